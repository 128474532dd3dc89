// Paths, from the folder of the file that is written.
#include "sim/import/written_name.hpp"

#include <filesystem>

namespace stepsim {

std::string written_name(const std::string& name, const ImportOptions& options) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(options.output).parent_path();
  std::error_code none;
  if (folder.empty() || fs::path(name).is_absolute() || !fs::exists(name, none)) return name;
  const fs::path seen = fs::proximate(name, folder, none);
  if (none) return name;
  // A file beside the scenario still has to look like a path.
  return seen.has_parent_path() ? seen.string() : "./" + seen.string();
}

}  // namespace stepsim
