// How long the host takes for one call of eager PyTorch, as measured.
#pragma once

#include "sim/core/quantity.hpp"

namespace stepsim {

/// The host's time for one call: recorded by autograd, without a graph, and in a backward pass. An
/// operator within a Python function of autograd counts as one without a graph in either pass.
struct HostCost {
  Seconds forward, no_graph, backward;
};

/// calib/measured/host.csv: PyTorch 1.13 and Python 3.11 on a core of a Xeon of 2024. Operators
/// with kernels are those of a CPU; with CUDA they take more, which `host.launch` has.
namespace host_cost {
inline constexpr HostCost elementwise{1.497_us, 1.172_us, 1.005_us};
inline constexpr HostCost norm{2.906_us, 2.675_us, 2.049_us};
inline constexpr HostCost product{2.981_us, 2.563_us, 2.451_us};
inline constexpr HostCost view{1.402_us, 1.344_us, 0.947_us};
inline constexpr HostCost module{1.906_us, 2.016_us, 0_us};
inline constexpr HostCost function{2.717_us, 3.183_us, 2.702_us};
inline constexpr HostCost fork{4.455_us, 4.658_us, 0_us};
inline constexpr HostCost node{0_us, 0_us, 1.111_us};
inline constexpr HostCost scripted{1.784_us, 1.871_us, 0.320_us};
inline constexpr HostCost checkpoint{5.963_us, 7.120_us, 16.235_us};
inline constexpr HostCost parameter{0_us, 0_us, 1.732_us};
inline constexpr HostCost hook{0_us, 0_us, 2.805_us};
inline constexpr HostCost optimizer_tensor{0_us, 0.427_us, 0_us};

/// Python between the calls of a layer of Megatron-LM's own modules: the layer run whole, less its
/// operators and its calls that have a cost of their own (calib/measured/host_megatron.csv).
inline constexpr HostCost between_calls{137.3_us, 108.8_us, 57.0_us};
/// A layer of Megatron Core with Transformer Engine's modules, run whole, less its operators, its
/// linear modules' excess (engine_linear) and its calls that have a cost of their own: the mean of
/// GPT and Llama (calib/measured/host_megatron_core.csv).
inline constexpr HostCost engine_layer{321_us, 310_us, 20_us};
/// What a linear module of Transformer Engine takes longer than PyTorch's, both in a loop
/// (calib/measured/host_megatron_core.csv).
inline constexpr HostCost engine_linear{20.0_us, 13.6_us, 30.3_us};
/// A third of what experts add to a layer of Megatron Core besides operators and counted calls,
/// with one expert a rank (calib/measured/host_megatron_core.csv). Router, dispatcher and experts
/// have one each: timed in place, they take 174, 174 and 163 us forward (calib/README.md, "Layers
/// as they are").
inline constexpr HostCost engine_part{137_us, 110_us, 74_us};
/// One weight of experts more in a grouped linear module: eight experts a rank less one, by either
/// dispatcher (calib/measured/host_megatron_core.csv).
inline constexpr HostCost engine_weight{12.9_us, 11.5_us, 16.3_us};
}  // namespace host_cost

/// calib/measured/host_cuda.csv: what others published, each of a machine of its own with a GPU, so
/// that `host.speed` does not divide it.
namespace host_published {
/// The host's time for a collective besides its launch: c10d, streams that wait for each other,
/// events, NCCL. All of it is 70 us, the least of three all-reduces that are stated whole or
/// nearly, of which 16 us are taken for the launch.
inline constexpr Seconds collective = 54_us;
}  // namespace host_published

}  // namespace stepsim
