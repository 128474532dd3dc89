// Paths, from the folder of the file that is written.
#include "sim/import/written_name.hpp"

#include <filesystem>

#include "sim/import/draft.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

/// Quotes a name in which YAML would read more than one. A map of keys stands for a file.
std::string one_word(const std::string& name) {
  if (name.starts_with('{') && is_one_flow(name)) return name;
  return name.find_first_of(",:#[]{}\"'\\&*!|>%@`\n\t") == std::string::npos ? name
                                                                             : write_scalar(name);
}

}  // namespace

std::string written_name(const std::string& name, const ImportOptions& options) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(options.output).parent_path();
  std::error_code none;
  if (folder.empty() || fs::path(name).is_absolute() || !fs::exists(name, none))
    return one_word(name);
  const fs::path seen = fs::proximate(name, folder, none);
  if (none) return one_word(name);
  // A file beside the scenario still has to look like a path.
  return one_word(seen.has_parent_path() ? seen.string() : "./" + seen.string());
}

}  // namespace stepsim
