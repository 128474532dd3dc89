// What the program was built from: a hash of its sources, its compiler and SimGrid's version, which
// the build writes.
#pragma once

namespace stepsim {

extern const char* const kBuildIdentity;

}  // namespace stepsim
