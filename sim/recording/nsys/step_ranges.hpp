// Which NVTX ranges are steps.
#pragma once

#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Ranges of one thread that are alike but for a running number (`step_5`, `iteration 12`), or alike
/// altogether (`train_step`, which are counted here). They follow each other without overlap, and
/// their numbers rise. Between the first and the last of them, most launches lie within one.
///
/// Ranges that are called step, iteration or training batch come first: half of the launches has to
/// lie in them. Of others there must be three, with nine of ten launches, and half of all launches
/// of the recording; names of parts of a step or of a model (layer, micro-batch, optimizer ...) do
/// not count. Of several kinds of ranges, the one with most launches is taken; of these, the one
/// that takes most time. Empty where no ranges are steps.
///
/// The recording's launches are found already.
std::vector<RecordedStep> step_ranges(const Recording& recording);

}  // namespace stepsim
