// A word on a line that the user can paste into a shell, and names in sentences.
#pragma once

#include <string>

namespace stepsim {

/// The text as a shell takes it for one word: in quotes where it needs them.
std::string shell_word(const std::string& text);

/// The path in a sentence: as it is, or quoted with escapes where it would end the line.
std::string shown_path(const std::string& path);

}  // namespace stepsim
