// What the GPUs of a scenario cost.
#pragma once

namespace stepsim {

/// Rent of one GPU with its share of node, network and storage.
struct GpuPrice {
  double dollars_per_hour = 0;
  bool operator==(const GpuPrice&) const = default;
};

struct Cost {
  GpuPrice price;
  bool operator==(const Cost&) const = default;
};

}  // namespace stepsim
