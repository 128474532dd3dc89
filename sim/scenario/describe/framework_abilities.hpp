// What training frameworks can do, and where that is written.
//
// A framework has some of the strategies that a scenario can state. Each key of which it has a
// choice is one row of `framework_abilities`: the values that it has. Checks, searches and
// proposals can ask `framework_can`; docs/frameworks.md is made from the rows, and a test holds
// every value against what the reader knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The values of one key that one framework has.
struct FrameworkAbility {
  Framework framework;
  std::string path;                 ///< "parallelism.data.sharding"
  std::vector<std::string> values;  ///< as to_yaml writes them; {"any"}: all of them
  bool beside_stages = false;       ///< holds where there is more than one pipeline stage
  std::string note;                 ///< what stands behind it
  std::string source;               ///< repository and file
};
const std::vector<FrameworkAbility>& framework_abilities();

/// Whether the framework has the value of the key, on one pipeline stage or beside several. A key
/// that no row names is not limited.
bool framework_can(Framework framework, std::string_view path, std::string_view value,
                   bool beside_stages = false);

/// The table of one framework for docs/frameworks.md.
std::string ability_reference(Framework framework);

}  // namespace stepsim
