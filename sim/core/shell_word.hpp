// A word of a line that the user can paste into a shell.
#pragma once

#include <string>

namespace stepsim {

/// As a shell would take it: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace stepsim
