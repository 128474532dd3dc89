// A scenario as a command line names it.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// What every command that reads a scenario needs.
struct ScenarioArgument {
  std::string path;
  std::vector<std::string> overrides;  ///< path=value
};

}  // namespace stepsim
