// Reads a file of any format that is known: one recording for each GPU of each process in it.
#pragma once

#include <string>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Reads what torch.profiler wrote (one recording), or what Nsight Systems exported as SQLite (one
/// or more), by the first bytes of the file. Never empty. Throws UserError, with one sentence, for
/// what is neither; IoError where the file cannot be read.
std::vector<Recording> read_recordings(const std::string& path);

}  // namespace stepsim
