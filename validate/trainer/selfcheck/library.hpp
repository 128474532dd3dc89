// A library of profiles of this machine, in a temporary folder, and what stepsim predicts with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "validate/trainer/selfcheck/deadline.hpp"
#include "validate/trainer/selfcheck/setting.hpp"

namespace stepsim::selfcheck {

struct Calibration {
  std::vector<int> sets_mib;  ///< working sets beside the one beyond the caches, ascending
  double budget_s;            ///< seconds of one call for one working set
};

/// A library of profiles in a temporary folder, which goes with it.
class Library {
 public:
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Calibrates anew, once for each number of ranks in the grid, because ranks share the caches and
  /// the memory. A call whose budget does not suffice is made again, for it goes on where the last
  /// one was. Throws OutOfTime.
  void calibrate(const Calibration& calibration, const std::vector<Setting>& grid,
                 const Deadline& deadline);
  /// Whether the budget sufficed for what the setting needs beside kernels.
  bool has(const Setting& setting) const;
  /// The predicted seconds of a step. The step's thread leaves its core to the workers while it
  /// waits for a batch. How much of a core it keeps busy (host.threads) is predicted by a step
  /// without workers.
  double predict(const Setting& setting) const;

 private:
  /// What one profile is made for.
  struct Use {
    int ranks;
    int working_set_mib;  ///< working set in MiB; 0: beyond the caches
    std::string name() const;
  };
  void calibrate(const Use& use, double budget_s, const Deadline& deadline) const;
  void calibrate_once(const Use& use, double budget_s) const;
  /// The profile for a setting: the one with the smallest working set that holds the setting's own.
  Use use_for(const Setting& setting) const;
  double simulate(const Setting& setting, double threads) const;

  std::filesystem::path folder_;
  std::vector<int> sets_mib_;
};

}  // namespace stepsim::selfcheck
