// The steps of a recording, as the program's profiler marked them on the host.
#pragma once

#include <string>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// The steps that the reader chose, else the annotations ProfilerStep#N of the host, in order of
/// time. Their twins on the GPU's streams
/// may be a thousandth of the step, and are not used.
std::vector<RecordedStep> steps_of(const Recording& recording);

/// From the start of the first to the end of the last step; without steps, from the first start to
/// the last end of what the GPU did. Empty where neither was recorded.
Interval window_of(const Recording& recording, const std::vector<RecordedStep>& steps);

/// How long the GPU is busy with what each step launched, whenever that is. Of steps that overlap the
/// later one has launched it. REQUIRES: steps in order of their start.
std::vector<Nanoseconds> busy_by_launch(const Recording& recording,
                                        const std::vector<RecordedStep>& steps);

}  // namespace stepsim
