// What a scenario's `model` is: its shape, for whoever has to know it before the scenario is read.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/model.hpp"

namespace stepsim {

/// The transformer that a name in models/, a path or a map in flow style describes; nothing where
/// it is no transformer. Throws UserError where there is none of that name.
std::optional<Transformer> shape_of_model(const std::string& model);

}  // namespace stepsim
