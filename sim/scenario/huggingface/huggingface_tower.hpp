// The tower for images of a Hugging Face config: `vision_config` beside the text becomes
// `model.tower`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// Whether the tower of models of that type can be simulated. `vision_type`: the type that the
/// tower states of itself; "": none.
bool has_huggingface_tower(std::string_view model_type, std::string_view vision_type);

/// A tower, and what has to be said of it. No keys: a mistake was reported.
struct TowerOfHuggingface {
  Tree tower;
  std::vector<std::string> notes;
};

/// Reads `vision_config` of `config`, the whole file; `hidden`: the width of its decoder.
/// REQUIRES: has_huggingface_tower(model_type, ...), and the config has a map of that name.
TowerOfHuggingface tower_of_huggingface(const Tree& config, std::string_view model_type,
                                        std::int64_t hidden, const std::string& path,
                                        Problems& problems);

}  // namespace stepsim
