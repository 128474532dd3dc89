// What a profiler adds to the time of the host that it records.
#pragma once

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Times as long as without a profiler that PyTorch's operators, and Python between them, take
/// while they are recorded, by what is recorded besides (calib/measured/recorders.csv). 1 where no
/// operators are recorded.
double recorder_slowdown(const ReadingNotes& notes);

}  // namespace stepsim
