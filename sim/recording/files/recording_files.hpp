// The files of a job's recordings: one that is named, or those of a folder.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

struct RecordingFiles {
  std::vector<std::string> recordings;  ///< in order of their names
  std::vector<std::string> others;      ///< of a folder, in order of their names
  std::vector<std::string> unreadable;  ///< of a folder, in order of their names
};

/// The file of that path, whatever it is; of a folder its own files, not those of folders in it.
/// Throws UserError where a folder has no recording, IoError where it cannot be read.
RecordingFiles recording_files(const std::string& path);

}  // namespace stepsim
