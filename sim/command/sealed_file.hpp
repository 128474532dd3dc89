// Files that a command writes for people to go on from: it replaces its own, but never what
// somebody has changed since.
#pragma once

#include <string>
#include <vector>

#include "sim/text/file.hpp"

namespace stepsim {

/// The text with a last line, a comment that says who wrote it and what the rest was then.
std::string sealed(const std::string& text, const std::string& command);

/// Whether the text ends in such a line of that command and is as it was then.
bool is_sealed(const std::string& text, const std::string& command);

/// Throws UserError that names all files that are there and are not as the command wrote them;
/// with `force` never.
void refuse_to_replace(const std::vector<std::string>& files, const std::string& command,
                       bool force);

}  // namespace stepsim
