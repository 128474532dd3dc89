// The measured correction of a tiled model: the time is multiplied by exp(c), where c is a sum of
// tables that are linear between their knots. A dimension that is smaller or larger than what was
// measured counts as the smallest or the largest that was.
//
// The tables, each with its last axis fastest:
//   sizes    log2 m x log2 n x log2 k;
//   padding  rows that are missing to a multiple of 256, over 256, x log2 n x log2 k;
//   waves    for tiles of 128 x 256 and of 128 x 128: log2 of the waves x what the last one leaves
//            empty x log2 k; then of 256 x 128, 128 x 64, 64 x 128 and 64 x 64 without k.
// A formula of a dozen constants cannot say what libraries choose by such numbers. Source of the
// axes: derived, tried on random halves and on tables of other laboratories
// (docs/decisions/010-gemm-model.md).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim {

inline constexpr std::size_t kCorrectionEntries =
    kCorrectionSizes + kCorrectionPadding + kCorrectionWaves;

/// How much an entry counts. Entries are those of sizes, padding and waves, in this order.
struct EntryWeight {
  std::size_t entry;
  double weight;
};

/// The weights of the entries for a shape: c is the sum of weights times entries.
std::vector<EntryWeight> correction_weights(const GemmShape& shape, double sms);

/// The factor exp(c) on the time.
double correction_factor(const GemmCorrection& correction, const GemmShape& shape, double sms);

/// All runs of three neighbouring entries along an axis: a correction is smooth where their second
/// differences are small.
std::vector<std::array<std::size_t, 3>> correction_runs();

}  // namespace stepsim
