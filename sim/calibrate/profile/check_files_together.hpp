// Files that are made for one another, tried together before any of them is written.
#pragma once

#include <string>
#include <vector>

#include "sim/text/file.hpp"

namespace stepsim {

/// Reads the scenario, the last of the files, with the others beside it in the same places below a
/// folder that is gone afterwards; `root` is the library that their paths lead into. Throws
/// InternalError where it cannot be read, and IoError where there is no room for temporary files.
void check_files_together(const std::vector<OutputText>& files, const std::string& root);

}  // namespace stepsim
