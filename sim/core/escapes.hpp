// What terminals understand and readers do not: colours, underlines, titles.
#pragma once

#include <string>

namespace stepsim {

/// The text without the escape sequences of terminals (ECMA-48: ESC [ ... letter, ESC ] ... BEL).
std::string without_escapes(const std::string& text);

}  // namespace stepsim
