// torchtitan's models, by name and flavor.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// A scenario's `model` for [model] name and flavor: a name in models/, or a map of sizes; "" where
/// a scenario cannot say it, nothing where it is not known. Sizes are those of pytorch/torchtitan
/// torchtitan/models/<name>/__init__.py.
std::optional<std::string> torchtitan_model(const std::string& name, const std::string& flavor);

/// Names of models, and the flavors of one, which may be meant by a misspelt one.
std::vector<std::string> torchtitan_names();
std::vector<std::string> torchtitan_flavors(const std::string& name);

}  // namespace stepsim
