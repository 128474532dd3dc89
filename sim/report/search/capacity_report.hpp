// What searches over several numbers of GPUs come to: how long the training takes on each, what it
// costs, and which are worth having.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/search/search_report.hpp"

namespace stepsim {

/// A number of GPUs with its best strategy.
struct CapacityPoint {
  SearchReport search;
  bool on_front = false;
  /// The training; set where something fits and a length is known.
  const std::optional<TrainedRun>& run() const { return search.run; }
  const StrategyOutcome* best() const {
    return search.listed.empty() ? nullptr : &search.listed.front().outcome;
  }
};

struct CapacityReport {
  std::string scenario, model, gpu;
  std::int64_t global_batch = 0;
  double tokens_per_step = 0;              ///< 0: the model has samples only
  std::optional<double> dollars_per_hour;  ///< price of a GPU
  std::string objective;
  std::optional<Seconds> deadline;    ///< time in which the training has to end
  std::vector<CapacityPoint> points;  ///< in rising order of GPUs
  std::vector<int> not_searched;      ///< sizes that an interrupt left out
  std::optional<std::size_t> best;    ///< index of the best size in time, by the objective
};

/// The time that counts for the front: of the whole training, or of a step.
double time_of(const CapacityPoint& point);
/// The GPU hours of that time (time_of), or its dollars.
double cost_of(const CapacityPoint& point, const CapacityReport& report);

/// Whether the training ends before the deadline; absent where no training is known.
std::optional<bool> in_time(const CapacityPoint& point, Seconds deadline);
/// The sizes that may be in time although nothing known says so, because their search did not end
/// or never began. Empty without a deadline.
std::vector<int> undecided(const CapacityReport& report);
/// Which sizes are in time, or how far off the fastest is, in words. REQUIRES: a deadline.
std::string deadline_text(const CapacityReport& report);

/// Sets `on_front` and `best`.
void rank_sizes(CapacityReport& report);
/// Throws UserError where no objective has that name.
void check_objective(const std::string& name);

std::string capacity_text(const CapacityReport& report, const Screen& screen);
std::string capacity_json(const CapacityReport& report);
std::string capacity_csv(const CapacityReport& report);

}  // namespace stepsim
