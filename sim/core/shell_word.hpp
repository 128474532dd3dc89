// A word on a line that the user can paste into a shell.
#pragma once

#include <string>

namespace stepsim {

/// The text as a shell takes it for one word: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace stepsim
