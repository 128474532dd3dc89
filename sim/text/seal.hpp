// Files that a command writes for people to go on from: it replaces its own, but never what
// somebody has changed since.
#pragma once

#include <string>
#include <vector>

#include "sim/text/output.hpp"

namespace stepsim {

/// The text with a last line, a comment that says who wrote it and what the rest was then. JSON has
/// no comments: a text that begins as it does stays as it is.
std::string sealed(const std::string& text, const std::string& command);

/// Whether the text ends in such a line of that command and is as it was then.
bool is_sealed(const std::string& text, const std::string& command);

/// Knows files that the command has sealed, and JSON objects that have these members, in this
/// order; no members: no JSON.
Maker sealed_by(const std::string& command, const std::vector<std::string>& members = {});

}  // namespace stepsim
