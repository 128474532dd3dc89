// Sorts a folder's files into recordings and others.
#include "sim/recording/files/recording_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/files/looks_like_recording.hpp"

namespace stepsim {

RecordingFiles recording_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {{path}, {}, {}};
  RecordingFiles files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::error_code unreadable;  // a link to itself, or into a closed folder, is no file
    if (!entry.is_regular_file(unreadable) || unreadable) continue;
    const std::string file = entry.path().string();
    if (!std::ifstream(file)) {
      files.unreadable.push_back(file);
    } else {
      (looks_like_recording(file) ? files.recordings : files.others).push_back(file);
    }
  }
  if (error) throw IoError(fmt::format("cannot read {}: {}", path, error.message()));
  if (files.recordings.empty())
    throw UserError(fmt::format("{}: no file of this folder is a recording", quoted_path(path)));
  std::ranges::sort(files.recordings);
  std::ranges::sort(files.others);
  std::ranges::sort(files.unreadable);
  return files;
}

}  // namespace stepsim
