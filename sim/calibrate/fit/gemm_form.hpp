// The constants of a closed form of GEMMs, by local searches from several starts.
#pragma once

#include "sim/calibrate/fit/gemm.hpp"

namespace stepsim::fit {

/// Least mean |log(modelled / measured)| over samples, of which at most a thousand are looked at.
/// Without a correction.
GemmProfile fit_form(const Samples& samples, const GemmProfile& start, const GemmDevice& device,
                     const GemmOptions& options);

}  // namespace stepsim::fit
