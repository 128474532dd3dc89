// The version that results carry.
#pragma once

namespace stepsim {

inline constexpr const char* kVersion = STEPSIM_VERSION;

}  // namespace stepsim
