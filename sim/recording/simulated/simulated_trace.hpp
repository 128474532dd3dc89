// What a trace of stepsim is: the timeline of a simulation, and what the file says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/recording/interval_set.hpp"
#include "sim/timeline/chosen.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// What stands before the events.
struct SimulatedHead {
  std::string version;   ///< of the stepsim that simulated
  std::string level;     ///< what a slice of the compute row is: kernel, task
  std::string scenario;  ///< its name
  std::string yaml;      ///< the scenario with every default
  std::string next;      ///< what the answer proposed
  int replica = 0;
  std::vector<Nanoseconds> step_ends;  ///< of all steps, warm-up included
  int warmup = 0;                      ///< steps at the front that are not measured
  StepRange steps;                     ///< those that the file has
  std::size_t simulated = 0;           ///< ranks of the simulation
  std::size_t ranks = 0;               ///< those that the file has
  std::int64_t ranks_total = 0, events = 0, kernels = 0, transfers = 0;  ///< of the engine
  std::vector<std::pair<std::string, std::string>> hashes;  ///< of its profiles, by what they are
};

struct SimulatedTrace {
  std::string file;  ///< as the user named it
  SimulatedHead head;
  /// Times are whole nanoseconds. Its steps end with the last one that the file has, and those
  /// before the first count as warm-up.
  Timeline timeline;
  std::vector<std::string> not_known;  ///< sentences on what the file does not have
};

}  // namespace stepsim
