// mkdtemp, and what to say where there is no place for it.
#include "sim/text/scratch_folder.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace fs = std::filesystem;
namespace {

/// Processes that were killed a moment ago may still add a file while others are removed.
constexpr int kTries = 5;
constexpr std::chrono::milliseconds kPause{20};

/// "TMPDIR='/none'": the variable that std::filesystem::temp_directory_path takes the folder from,
/// which is /tmp where none of them is set.
std::string stated_place() {
  for (const char* name : std::array{"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* value = std::getenv(name))
      return fmt::format("{}={}", name, quoted_path(value));
  }
  return "/tmp";
}

IoError no_folder(const std::string& why) {
  return IoError(
      fmt::format("no folder for temporary files can be made, {}: {}; set TMPDIR to a folder that "
                  "can be written",
                  stated_place(), why));
}

fs::path place_for_all() {
  std::error_code failed;
  fs::path place = fs::temp_directory_path(failed);
  if (failed) throw no_folder(failed.message());
  return place;
}

}  // namespace

ScratchFolder::ScratchFolder() : ScratchFolder(place_for_all()) {}

ScratchFolder::ScratchFolder(const fs::path& within) {
  std::string name = (within / "stepsim-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw no_folder(std::strerror(errno));
  path_ = fs::canonical(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
  for (int i = 1; failed && i < kTries; ++i) {
    std::this_thread::sleep_for(kPause);
    fs::remove_all(path_, failed);
  }
}

}  // namespace stepsim
