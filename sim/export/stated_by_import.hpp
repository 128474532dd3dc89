// What a file does not hold, as options of its import state it.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The cluster's name, where scenarios/clusters/ has it.
std::optional<std::string> cluster_option(const Cluster& cluster);

/// The model's name, where models/ has one of that name and shape; else a map of its sizes.
std::string model_option(const Model& model);

/// Why configurations without a model take no other one.
inline constexpr const char* kTransformersOnly =
    "an import of this file asks for a sequence length, which transformers alone have";

/// The transformer that is trained. Throws UserError with `why` where it is another kind of model,
/// and where it has a tower, whose images no file says.
const Transformer& transformer_of(const Scenario& scenario, const std::string& why);

}  // namespace stepsim
