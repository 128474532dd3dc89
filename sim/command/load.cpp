// Scenario loading with the registries' names.
#include "sim/command/load.hpp"

#include "sim/cluster/network.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

Scenario load(const ScenarioArgument& argument) {
  const KnownNames known{known_schedules(), Registry<Topology>::names(),
                         Registry<CollectiveAlgorithm>::names()};
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return load_scenario(argument.path, overrides, known);
}

}  // namespace stepsim
