// Scenario loading with the registries' names.
#include "sim/plan/load.hpp"

#include "sim/core/source.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

std::vector<Override> overrides_of(const ScenarioArgument& argument) {
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return overrides;
}

}  // namespace

Scenario load(const ScenarioArgument& argument) {
  return load(argument, library_for(argument.path));
}

Scenario load(const ScenarioArgument& argument, const Library& library) {
  return parse_scenario(read_source(argument.path)->text, argument.path, library,
                        overrides_of(argument), known_names());
}

Scenario load(ScenarioArgument argument, const std::vector<std::string>& settings,
              const Library& library) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return load(argument, library);
}

std::set<std::string> stated_keys(const ScenarioArgument& argument) {
  return stated_keys(argument.path, overrides_of(argument));
}

}  // namespace stepsim
