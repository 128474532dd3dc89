// GPUs that people have and that nobody has measured for a profile: the nearest one that is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// A name of `profiles` for the GPU that somebody calls `name`: the same one, spelled in another way,
/// or the nearest by generation and kind of memory; empty where it is not known. Case, blanks,
/// hyphens, the maker's name, the form factor and GB do not count.
std::string nearest_gpu(std::string_view name, const std::vector<std::string>& profiles);

}  // namespace stepsim
