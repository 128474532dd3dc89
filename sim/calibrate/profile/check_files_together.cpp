// A library of some files in a temporary folder, and a scenario that is read from it.
#include "sim/calibrate/profile/check_files_together.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/scratch_folder.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

}  // namespace

void check_files_together(const std::vector<OutputText>& files, const std::string& root) {
  const ScratchFolder folder;
  for (const OutputText& file : files) {
    const fs::path place = folder.path() / fs::absolute(file.output.path).lexically_relative(root);
    std::error_code ignored;  // save_file says what cannot be written
    fs::create_directories(place.parent_path(), ignored);
    save_file({.role = "a copy", .path = place.string()}, file.text);
  }
  const OutputText& scenario = files.back();
  Library library = library_for(scenario.output.path);
  library.roots.insert(library.roots.begin(), folder.path().string());
  try {
    (void)parse_scenario(scenario.text, scenario.output.path, library, {}, known_names());
  } catch (const UserError& error) {
    throw InternalError(
        fmt::format("what was made of the measurements is no scenario:\n{}", error.what()));
  }
}

}  // namespace stepsim
