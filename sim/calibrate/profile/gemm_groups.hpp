// Measured GEMMs in groups whose times are alike: one precision, layout and way of measuring each.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "sim/calibrate/fit/gemm.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"

namespace stepsim {

/// In the order in which a fit prefers them: a layer's forward products in a short benchmark come
/// first.
struct GemmGroup {
  bool batched = false;
  bool accumulated = false;
  Transpose transpose = Transpose::TN;
  bool sustained = false;
  std::int64_t quantised_bytes = 0;

  auto operator<=>(const GemmGroup&) const = default;

  /// Whether constants can be fitted to it: one product that is not added to another.
  bool is_plain() const { return !batched && !accumulated; }
  /// "", or what it is apart from a layer's forward products: ", NT, accumulated".
  std::string suffix() const;
};

using GemmGroups = std::map<GemmGroup, fit::Samples>;

/// The groups of each precision that was measured.
using GroupsByPrecision = std::map<Precision, GemmGroups, MeasuredOrder>;
GroupsByPrecision gemm_groups(const Records& records);

/// The profile as a model, with the factors of such kernels in its times.
fit::Model group_model(const GemmProfile& profile, const GemmDevice& device,
                       const GemmGroup& group);

/// A ratio of times, over several shapes.
struct Ratio {
  int shapes = 0;
  double mean = 1;  ///< geometric
};

/// Time after seconds of the same kernel over that of a short benchmark, where shapes have both.
Ratio sustained_over_short(const GemmGroups& groups);
/// Time of weights' gradients that are added to fp32 ones, over what the profile has for a forward
/// product of the same shape.
Ratio gradient_over_forward(const GemmGroups& groups, const GemmProfile& profile,
                            const GemmDevice& device);

}  // namespace stepsim
