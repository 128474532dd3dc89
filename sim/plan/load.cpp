// Scenario loading with the registries' names.
#include "sim/plan/load.hpp"

namespace stepsim {

Scenario load(const ScenarioArgument& argument) {
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return load_scenario(argument.path, overrides, known_names());
}

Scenario load(ScenarioArgument argument, const std::vector<std::string>& settings) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return load(argument);
}

}  // namespace stepsim
