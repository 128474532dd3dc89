// Which cluster has the GPU that a recording names.
#pragma once

#include <string>
#include <string_view>

namespace stepsim {

struct KnownDevice {
  std::string_view cluster;  ///< a name in scenarios/clusters/; empty: none has it
  std::string_view note;     ///< how it differs from the GPU there; empty: it does not
};

/// By the name that CUDA's driver gives it: "NVIDIA H100 80GB HBM3", "Tesla V100-SXM2-32GB".
KnownDevice device_named(const std::string& name);

}  // namespace stepsim
