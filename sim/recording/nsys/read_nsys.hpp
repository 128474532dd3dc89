// Reads what `nsys export --type sqlite` makes of a report of Nsight Systems, of any year.
#pragma once

#include <string>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// One recording for each process and GPU that worked, in order of their ids; one without
/// activities where no GPU's work was recorded but calls or ranges were. Times are since 1970 where
/// the file says when it began. Throws UserError, with one sentence that says what the file is, for
/// what is no such export, or is damaged; IoError where the file cannot be read.
std::vector<Recording> read_nsys(const std::string& path);

}  // namespace stepsim
