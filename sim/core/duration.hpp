// Durations of a command line, as people write them.
#pragma once

#include <string>

namespace stepsim {

/// Seconds of "10 min", "90s", "500 ms", "1.5 h", "30d". Throws UserError, which says why, for
/// anything else, and what is not positive.
double parse_duration(const std::string& text);

/// The same for an option, which messages name.
double duration_of(const std::string& option, const std::string& text);

}  // namespace stepsim
