// A library of profiles of this machine, in a temporary folder, and what stepsim predicts with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "validate/trainer/selfcheck/deadline.hpp"
#include "validate/trainer/selfcheck/setting.hpp"

namespace stepsim::selfcheck {

struct Calibration {
  std::vector<int> sets_mib;  ///< working sets beside the one that is beyond the caches, ascending
  double budget_s;            ///< of one call for one of them
};

/// The folder goes with it.
class Library {
 public:
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Anew, for each number of ranks in the grid, which share the caches and the memory. A call that
  /// its budget does not suffice for is made again, since it goes on where the last one was. Throws
  /// OutOfTime.
  void calibrate(const Calibration& calibration, const std::vector<Setting>& grid,
                 const Deadline& deadline);
  /// Whether the budget sufficed for what the setting needs beside kernels.
  bool has(const Setting& setting) const;
  /// Seconds of a step. Its thread leaves its core to the workers while it waits for a batch: how
  /// much of a core it keeps busy (host.threads) is what is predicted of the step without them.
  double predict(const Setting& setting) const;

 private:
  /// What a profile is made for.
  struct Use {
    int ranks;
    int working_set_mib;  ///< 0: beyond the caches
    std::string name() const;
  };
  void calibrate(const Use& use, double budget_s, const Deadline& deadline) const;
  void calibrate_once(const Use& use, double budget_s) const;
  /// Of the smallest working set that holds the setting's own.
  Use use_for(const Setting& setting) const;
  double simulate(const Setting& setting, double threads) const;

  std::filesystem::path folder_;
  std::vector<int> sets_mib_;
};

}  // namespace stepsim::selfcheck
