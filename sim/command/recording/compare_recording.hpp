// stepsim compare of a scenario and recordings: predicted beside measured.
#pragma once

#include <iosfwd>

#include "sim/command/compare.hpp"

namespace stepsim {

/// Whether one of the files is a recording, or a folder.
bool has_recording(const CompareOptions& options);

/// Simulates the scenario, and says by cause and by family of kernels where a recorded step
/// differs. Throws UserError unless there are one scenario and one recording, and for options of
/// others.
ExitCode compare_recording(const CompareOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
