// Scenario loading with the registries' names.
#include "sim/command/load.hpp"

#include "sim/cluster/network.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

KnownNames known_names() {
  return {known_schedules(), Registry<Topology>::names(), Registry<CollectiveAlgorithm>::names()};
}

Scenario load(const ScenarioArgument& argument) {
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return load_scenario(argument.path, overrides, known_names());
}

}  // namespace stepsim
