// Recordings of one job, from a file or a folder of files, several at a time.
#pragma once

#include <optional>
#include <string>

#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/replay/replay_plan.hpp"

namespace stepsim {

struct ReadJob {
  RecordedJob job;
  /// of the rank that works longest; absent: nothing to replay, or not asked for
  std::optional<ReplayPlan> pace;
};

/// Reads the file, or each recording in the folder (its own files, not those of folders in it), and
/// what follows from each of them. No more recordings are in memory at a time than there are cores.
/// Where a rank has two recordings the later file counts. What had to be left out is in `not_known`.
/// Throws UserError where nothing can be read.
ReadJob read_job(const std::string& path, bool with_plan);

}  // namespace stepsim
