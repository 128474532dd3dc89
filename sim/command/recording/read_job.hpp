// Recordings of one job, from a file or a folder of files, several at a time.
#pragma once

#include <string>
#include <vector>

#include "sim/recording/ranks/recorded_job.hpp"

namespace stepsim {

/// Reads the file, or each recording in the folder (its own files, not those of folders in it), and
/// what follows from each of them. No more recordings are in memory at a time than there are cores.
/// Of two recordings of a rank the later file counts. What had to be left out is in `not_known`.
/// Throws UserError where nothing can be read.
RecordedJob read_job(const std::string& path);

}  // namespace stepsim
