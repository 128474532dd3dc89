// Rates of a profile, scaled so that the kernels of a step take what a recording says of them.
//
// Matrix products of each precision scale by `sustained`, the time in a training over that of a
// benchmark; convolutions by their factors over these; fused attention by its plateaus and its
// overhead; kernels that move bytes by the rate of their class, t = sqrt(latency^2 + (bytes /
// rate)^2), where the latency stays. On a core, what passes between operators is a part of each
// call: it adds to the latency and to the overhead of products.
#pragma once

#include <string>
#include <vector>

#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/ops/work.hpp"

namespace stepsim {

/// Kernels whose constants scale together. The classes of bytes that no recording tells apart are
/// one: element-wise kernels, dropout, look-ups.
enum class RateGroup : std::uint8_t {
  gemm,
  attention,
  convolution,
  norm,
  softmax,
  loss,
  optimizer,
  elementwise
};
inline constexpr std::size_t kRateGroups = static_cast<std::size_t>(RateGroup::elementwise) + 1;
RateGroup group_of(const Work& work);

/// A kernel of a predicted step.
struct PredictedKernel {
  Work work;
  double seconds = 0;
  double calls = 1;  ///< in a step
};

/// What a recording counts under one name, and what the prediction has of it. Some kernels may
/// belong to other groups: they are scaled with those.
struct RecordedGroup {
  std::string title;  ///< "matrix products"
  RateGroup group = RateGroup::elementwise;
  std::vector<PredictedKernel> kernels;
  double recorded_s = 0;  ///< of a step
};

struct ScaledGroup {
  std::string title;
  double predicted_s = 0, recorded_s = 0;  ///< of a step
  double factor = 0;                       ///< of time; 0: not scaled
  std::vector<std::string> constants;      ///< their paths in the profile
  std::string reason;                      ///< why it is not scaled
};

/// Scales the draft's constants. `between_s` is what passes between the operators of a step on a
/// core, 0 elsewhere. Groups that neither side has a hundredth of the step in, that one side does
/// not have, or whose calls alone would take longer than was recorded stay as they are. The sources
/// of what is scaled say `origin`.
std::vector<ScaledGroup> scale_to_recorded(const std::vector<RecordedGroup>& groups,
                                           double between_s, const std::string& origin,
                                           GpuDraft& draft);

/// Scales times of the link: those of its lines of these operations ("all_reduce"), or, where it has
/// none, latency and bandwidth. Returns their paths.
std::vector<std::string> scale_link(double factor, const std::vector<std::string>& operations,
                                    const std::string& origin, LinkDraft& draft);

}  // namespace stepsim
