// What a file is that was given where another kind was wanted, and which command reads it.
#pragma once

#include <string>

namespace stepsim {

/// Where the text is one of `import`'s kinds, a log of nccl-tests, a file of measurements or a
/// model's config: "ds.json is no scenario; `import` reads it as a DeepSpeed configuration (JSON):
/// stepsim import ds.json -o scenario.yaml". Empty where nothing is recognised.
std::string way_out_for_scenario(const std::string& path, const std::string& text);

/// As way_out_for_scenario, of those kinds that `import` does not read.
std::string way_out_for_import(const std::string& path, const std::string& text);

}  // namespace stepsim
