// The classes of kernels that move bytes: the name and the rate that a profile has for each.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "sim/ops/work.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

struct MemoryClass {
  MemoryRate kind;
  const char* name;  ///< key in profiles
  BytesPerSecond MemoryProfile::*rate;
};

/// The memory classes, in the order of MemoryRate.
inline constexpr MemoryClass kMemoryClasses[] = {
    {MemoryRate::elementwise, "elementwise", &MemoryProfile::elementwise},
    {MemoryRate::norm, "norm", &MemoryProfile::norm},
    {MemoryRate::softmax, "softmax", &MemoryProfile::softmax},
    {MemoryRate::dropout, "dropout", &MemoryProfile::dropout},
    {MemoryRate::loss, "loss", &MemoryProfile::loss},
    {MemoryRate::optimizer, "optimizer", &MemoryProfile::optimizer},
    {MemoryRate::permute, "permute", &MemoryProfile::permute}};

template <std::size_t... i>
constexpr bool are_in_order(std::index_sequence<i...>) {
  return ((kMemoryClasses[i].kind == static_cast<MemoryRate>(i)) && ...);
}
static_assert(std::size(kMemoryClasses) == static_cast<std::size_t>(MemoryRate::permute) + 1);
static_assert(are_in_order(std::make_index_sequence<std::size(kMemoryClasses)>{}));

constexpr const MemoryClass& class_of(MemoryRate kind) {
  return kMemoryClasses[static_cast<std::size_t>(kind)];
}

}  // namespace stepsim
