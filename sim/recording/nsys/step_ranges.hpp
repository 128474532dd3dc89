// Which NVTX ranges are steps.
#pragma once

#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Ranges of one thread that are alike but for running numbers (`step_5`, `iteration 12`), or alike
/// altogether (`train_step`, which are counted here). They follow each other without overlap, and
/// their numbers rise.
///
/// Ranges that are called step, iteration or training batch come first: half of the launches from
/// the first to the last of them have to lie within one, and a tenth of all. Of others there must
/// be three, with nine of ten of these launches, and half of all. Names of parts of a step
/// (optimizer, micro-batch) do not count, nor numbers of layers, ranks and the like. Of several
/// kinds of ranges, the one with most launches is taken; of these, the one that takes most time.
/// Empty where no ranges are steps.
///
/// The launches of the recording's activities are found already.
std::vector<RecordedStep> step_ranges(const Recording& recording);

}  // namespace stepsim
