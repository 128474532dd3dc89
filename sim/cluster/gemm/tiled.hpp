// The tiled model of matrix products: tiles in waves over the SMs, k split where that is faster.
//
// The time is the least, over tiles of a x b elements and splits of k into s slices, of
//   t = overhead + (tc^p + tm^p)^(1/p) + (s > 1) (split_overhead + 4 mn (s+1) / split rate),
// the split rate being split_bandwidth times the device's, with F = 2mnk and
//   tc    = W (k/s + prologue_k) 2 area / (peak/SMs efficiency (1 - droop F / (F + droop_half))),
//           k/s at least 64 when split;
//   area  = (ab + tile_edge (a+b)), scaled so that it is 32768 for tiles of 256 x 128;
//   W     = the waves of ceil(m/a) ceil(n/b) s tiles: with x tiles for each SM and Q = ceil(x),
//           c = 32768/ab, at most 4, of them at once and g = lone_tile 128^2/ab, at least 1, for
//           one that is alone, whole waves take floor(Q/c) max(c, g), and max(Q mod c, g) for a
//           rest; of more than one tile an SM the share partial_waves takes max(g, x) instead.
// A larger m, n or k never makes the time shorter. Source of the form: derived, with constants
// fitted to measured tables (calib/README.md); docs/decisions/010-gemm-model.md has the
// alternatives. A measured correction (correction.hpp) may come on top; batches and convolutions
// have none.
#pragma once

#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim {

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const TiledGemm& form,
                     const GemmDevice& device);

}  // namespace stepsim
