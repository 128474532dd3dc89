// Families of kernels that a prediction and a recording both know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/core/names.hpp"
#include "sim/ops/work.hpp"
#include "sim/recording/kernel_kinds.hpp"

namespace stepsim {

enum class KernelFamily : std::uint8_t {
  gemm,
  attention,
  convolution,
  norm,
  softmax,
  loss,
  optimizer,
  other,  ///< element-wise kernels, copies, look-ups, reductions, and what nobody knows
  count_
};
template <>
inline constexpr auto kNames<KernelFamily> = names_until(KernelFamily::other, "gemm", "attention",
                                                         "convolution", "norm", "softmax", "loss",
                                                         "optimizer", "other");
inline constexpr std::size_t kFamilies = static_cast<std::size_t>(KernelFamily::count_);

/// Seconds and launches of a mean step.
struct FamilyTime {
  double seconds = 0, launches = 0;
};
using FamilyTimes = std::array<FamilyTime, kFamilies>;

/// "matrix products", as a person reads it.
const char* title_of(KernelFamily family);

/// What a recorded kernel counts under.
KernelFamily family_of(KernelKind kind);

/// What a predicted one counts under.
KernelFamily family_of(const Work& work);

}  // namespace stepsim
