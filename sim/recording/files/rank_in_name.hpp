// The rank that a file's name says.
#pragma once

#include <optional>
#include <string>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// The number behind `rank` or `worker` in the file's name: rank-0, rank0, worker0_step_12.
std::optional<int> rank_in_name(const std::string& path);

/// Gives the recording the rank in its file's name, and notes that, where it has none.
void take_rank_from_name(Recording& recording);

}  // namespace stepsim
