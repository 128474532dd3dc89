// Models by the names that they have on Hugging Face's hub.
#pragma once

#include <optional>
#include <string>

namespace stepsim {

/// The name in models/ of "meta-llama/Meta-Llama-3-8B-Instruct"; nothing where models/ has none of
/// its shape. Checkpoints that were trained on, and copies, have the shape of the first.
std::optional<std::string> model_of_hub(const std::string& name);

}  // namespace stepsim
