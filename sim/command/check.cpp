// stepsim check: is the scenario right?
#include "sim/command/check.hpp"

#include <ostream>

#include <fmt/format.h>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

ExitCode check(const ScenarioArgument& argument, std::ostream& out) {
  const Scenario s = load(argument);
  check_groups(s, build(s));
  out << fmt::format("{}: ok: {} on {} {} GPUs\n", argument.path, s.model.name, s.cluster.gpus(),
                     s.cluster.gpu.name);
  for (const std::string& note : s.model.notes)
    out << fmt::format("note: model {}: {}\n", s.model.name, note);
  return ExitCode::ok;
}

}  // namespace stepsim
