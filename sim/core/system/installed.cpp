// Finds where the program was installed by the link that the kernel keeps to it.
#include "sim/core/system/installed.hpp"

namespace stepsim {

namespace fs = std::filesystem;

fs::path folder_above_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
}

std::optional<fs::path> installed_prefix() {
  const fs::path prefix = folder_above_program();
  std::error_code ignored;
  if (prefix.empty() || !fs::is_directory(prefix / "share" / "stepsim", ignored))
    return std::nullopt;
  return prefix;
}

}  // namespace stepsim
