// The number of the format in which stepsim writes the traces that it reads back.
#pragma once

namespace stepsim {

/// Grows with every change after which older or newer files would be misread.
inline constexpr int kTraceFormat = 1;

}  // namespace stepsim
