// Whether a strategy fits together, in nanoseconds: what the reader's checks say about the keys
// that strategies set, without the sentences. A test holds both against each other.
#pragma once

#include "sim/search/strategy.hpp"

namespace stepsim {

/// Of everything but recompute and data parallelism. `scenario` has the frame set.
bool frame_fits(const Scenario& scenario, const Strategy& frame);

/// Of those, given that the frame fits.
bool variant_fits(const Scenario& base, const Strategy& variant);

}  // namespace stepsim
