// From a scenario to its answer: what `run` prints and `compare` compares.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <vector>

#include "sim/command/answer/simulated_change.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

struct AnswerOptions {
  bool fold = true;
  int jobs = 0;              ///< replicas at the same time; 0: as many as there are cores
  bool kernels = false;      ///< the timeline has each kernel
  std::vector<int> shown{};  ///< ranks that the timeline has in any case
  Reread reread{};           ///< for the next thing to try; empty: nobody asks for it
  /// Told the name of each stage when it is done.
  std::function<void(const char*)> lap = [](const char*) {};
};

struct Answer {
  Metrics metrics;
  std::vector<ExpectationOutcome> outcomes;
  Simulation simulation;  ///< the simulation of the replica in the middle
};

/// The record of measured runs in the library; a broken one is said on `notes`, and nothing, as if
/// there were none.
std::optional<std::vector<RecordedRuns>> measured_runs(const Library& library, std::ostream& notes);

/// The error of measured runs like this one; nothing where no record of any is found.
std::optional<ExpectedError> likely_error(const Library& library, const Scenario& scenario,
                                          std::ostream& notes);

/// Simulates it, its replicas and its counterfactuals; the record of measured runs is the
/// library's. What the reader should know besides goes to `notes`.
Answer answer_of(const Scenario& scenario, const Library& library, const AnswerOptions& options,
                 std::ostream& notes);

}  // namespace stepsim
