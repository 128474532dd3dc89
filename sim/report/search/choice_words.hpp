// What predictions are worth when one chooses, in sentences.
#pragma once

#include <string>

#include "sim/scenario/suite/tolerance.hpp"

namespace stepsim {

/// Sentences about the rows that are expected to be met, and about all rows; empty where no job was
/// done in two ways.
std::string choice_words(const RecordedChoices& expected, const RecordedChoices& all);

}  // namespace stepsim
