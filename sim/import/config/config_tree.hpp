// A file of JSON, YAML or TOML as one tree.
#pragma once

#include <memory>
#include <optional>

#include "sim/core/json_tree.hpp"

namespace stepsim {

/// Parses by the ending of the source's name, .json or .toml, or by how the text begins: '{' is JSON,
/// '[' TOML, all else YAML. Mistakes of syntax go to `problems`, and the result is empty then.
std::optional<JsonTree> config_tree(const std::shared_ptr<const Source>& source,
                                    Problems& problems);

/// Parses a text. Reports what is no TOML to `problems`, with its place; returns nothing then.
std::optional<JsonTree> parse_toml(const std::shared_ptr<const Source>& source, Problems& problems);

}  // namespace stepsim
