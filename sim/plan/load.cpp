// Scenario loading with the registries' names.
#include "sim/plan/load.hpp"

#include "sim/core/source.hpp"

namespace stepsim {

Scenario load(const ScenarioArgument& argument) {
  return load(argument, library_for(argument.path));
}

Scenario load(const ScenarioArgument& argument, const Library& library) {
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return parse_scenario(read_source(argument.path)->text, argument.path, library, overrides,
                        known_names());
}

Scenario load(ScenarioArgument argument, const std::vector<std::string>& settings,
              const Library& library) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return load(argument, library);
}

}  // namespace stepsim
