// Reads what torch.profiler writes: Kineto's JSON, plain or compressed, of any year.
#pragma once

#include <string>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Reads a recording. What it had to leave out is in the notes. Throws UserError, with one sentence
/// that says what the file is, for what is no recording of PyTorch's profiler; IoError where the
/// file cannot be read.
Recording read_kineto(const std::string& path);

}  // namespace stepsim
