// GPUs that people have and that nobody has measured for a profile: the nearest one that is there.
#pragma once

#include <string>
#include <string_view>

namespace stepsim {

/// "{base: l40s, memory: 24 GB, ...}": the profile of the nearest GPU with the datasheet's numbers
/// of this one, or a name; empty where the GPU is not known. Case, blanks, hyphens and the maker's
/// name do not count.
std::string nearest_to_absent_gpu(std::string_view name);

}  // namespace stepsim
