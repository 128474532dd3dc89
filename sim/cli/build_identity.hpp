// What the program was built from: a hash of its sources, which the build writes.
#pragma once

namespace stepsim {

extern const char* const kBuildIdentity;

}  // namespace stepsim
