// A machine's constants by its measured steps, and each step by constants of all others.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/command/machine_constants.hpp"
#include "sim/process/progress.hpp"
#include "sim/scenario/suite/load_suite.hpp"

namespace stepsim {

struct FittedStep {
  std::string label;
  double measured = 0, before = 0, fitted = 0, held_out = 0;  ///< seconds
};

struct FittedSteps {
  TimesAsSlow times = kAsTheyAre;
  std::array<double, kMachineConstants> sd{};          ///< of the natural logarithms of `times`
  std::array<std::string, kMachineConstants> reasons;  ///< why a constant stays; empty: fitted
  /// What states a constant for all rows that have it; empty where these differ.
  std::array<std::vector<std::string>, kMachineConstants> settings;
  std::vector<FittedStep> rows;  ///< those that are measured, and not known to be off
};

/// Fits the constants to the suite's rows, by at most so many simulations at a time (0: as many as
/// there are cores). The constants for a step that is held out, and how well they are known, are of
/// the other steps; the point about which steps are taken as linear is of all. Throws UserError
/// where fewer than two rows can be used, SimulationError after Ctrl-C.
FittedSteps fit_steps(const LoadedSuite& loaded, int at_a_time, const ProgressLine& line);

}  // namespace stepsim
