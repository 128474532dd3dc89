// The correction of a closed form of GEMMs (sim/cluster/gemm/correction.hpp), by least squares.
//
// Linear in its entries: what is left of log(measured / modelled) is fitted by the sum of tables,
// with second differences and the entries themselves held small, and weighted anew by 1/|rest|
// until the mean of absolute values is least. Where a larger product would become faster by it, a
// condition on the two is added to the squares.
#pragma once

#include "sim/calibrate/fit/gemm.hpp"

namespace stepsim::fit {

/// REQUIRES: a tiled profile without a correction.
GemmCorrection fit_correction(const Samples& samples, const GemmProfile& profile,
                              const GemmDevice& device, const GemmOptions& options);

}  // namespace stepsim::fit
