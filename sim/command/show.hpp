// stepsim show: the values between the scenario and the answer, as text.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

/// What `show collective` is asked.
struct CollectiveQuestion {
  std::string op = "all_reduce";
  std::string bytes = "64 MiB";  ///< nccl-tests size
  std::string group = "data";
  std::string format = "table";  ///< table, json; also of `show model`
};

struct ShowOptions {
  std::string what;  ///< scenario, model, cluster, ops, plan, memory, timeline, collective
  ScenarioArgument scenario;
  CollectiveQuestion collective;
  bool dot = false;  ///< cluster: a picture for Graphviz
};

/// Prints one of the values between the scenario and the answer.
ExitCode show(const ShowOptions& options, std::ostream& out);

}  // namespace stepsim
