// Durations of a command line, as people write them.
#pragma once

#include <string>

namespace stepsim {

/// Seconds of "10 min", "90s", "1.5 h", "30d". Throws UserError for anything else, and what is not
/// positive.
double parse_duration(const std::string& text);

}  // namespace stepsim
