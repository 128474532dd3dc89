// TOML as the tree that JSON is read into, so that one reader serves both.
#pragma once

#include <memory>
#include <optional>

#include "sim/core/json_tree.hpp"

namespace stepsim {

/// Parses a text. Reports what is no TOML to `problems`, with its place; returns nothing then.
std::optional<JsonTree> parse_toml(const std::shared_ptr<const Source>& source, Problems& problems);

}  // namespace stepsim
