// Durations on a command line, as people write them.
#pragma once

#include <string>

namespace stepsim {

/// The seconds of "10 min", "90s", "500 ms", "1.5 h" or "30d". Throws UserError with the reason for
/// any other text and for a duration that is not positive.
double parse_duration(const std::string& text);

/// The seconds of an option's value. Throws UserError, which names the option, where `text` is no
/// duration (see parse_duration).
double duration_of(const std::string& option, const std::string& text);

}  // namespace stepsim
