// Errors as texts in per cent.
#pragma once

#include <string>

#include <fmt/format.h>

namespace stepsim {

/// "2.1 %" for 0.021.
inline std::string error_text(double share) { return fmt::format("{:.1f} %", 100 * share); }
/// "+2.1 %" for 0.021.
inline std::string signed_error(double share) { return fmt::format("{:+.1f} %", 100 * share); }

}  // namespace stepsim
