// The words of a shell: those of a launch script, as far as they can be known without one, and one
// for a line that the user can paste.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// All words of the script, in order: comments and quotes removed, lines that end in a backslash
/// joined, variables that the script assigns replaced. Throws IoError when it cannot be read.
std::vector<std::string> words_of_script(const std::string& path);

/// The same for text.
std::vector<std::string> shell_words(const std::string& text);

/// As a shell would take it: in quotes where it needs them.
std::string shell_word(const std::string& text);

}  // namespace stepsim
