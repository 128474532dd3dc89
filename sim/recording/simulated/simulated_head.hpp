// Reads what a trace of stepsim says of itself.
#pragma once

#include <string>
#include <string_view>

#include "sim/recording/simulated/simulated_trace.hpp"

namespace stepsim {

/// The head in the text of `otherData`. Throws UserError where it is of another format, which the
/// message names, or damaged; `file` is the name that it cites.
SimulatedHead simulated_head(std::string_view text, const std::string& file);

/// "'FILE': this trace of stepsim is damaged: WHAT".
[[noreturn]] void refuse_damaged(const std::string& file, const std::string& what);

}  // namespace stepsim
