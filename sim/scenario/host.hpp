// The CPU side of a training loop: how it launches kernels, when it waits for the GPU, and what
// else keeps it from launching.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// Modules of a layer that may be CUDA graphs of their own (NVIDIA/Megatron-LM
/// megatron/core/transformer/transformer_config.py, cuda_graph_modules): attention with the norm
/// before it; a dense MLP; the router, with shared experts that do not overlap exchanges; what comes
/// before tokens are sent; experts and all exchanges; a mixer of Mamba.
enum class GraphModule { attn, mlp, moe_router, moe_preprocess, moe, mamba };

/// How kernels reach the GPU: one by one from Python, the next one only when the GPU is done
/// (CUDA_LAUNCH_BLOCKING=1), one by one from compiled code, or a whole pass at once.
enum class HostMode { eager, blocking, compiled, graph };

/// What takes the host's time: launches, each with its operator; or besides them what else eager
/// PyTorch calls: views, modules, functions and nodes of autograd, checkpoints, hooks, collectives.
enum class HostPace { launches, calls };

/// A core's speed over the one that calls were measured on, where neither scenario nor cluster has
/// it: between a DGX A100's (0.58) and a DGX H100's (0.71).
inline constexpr double kUsualCpuSpeed = 0.64;

/// CPU time of an operator of PyTorch with its launch, among the calls of a layer, at a speed of 1.
/// Three layers beside an H100 whose CPU has a speed of 0.29 take 34.4 us an operator, less what
/// their other calls take there (calib/measured/h100_host.csv). Loops over one operator, forward
/// alone, take 14.5 to 24.1 us.
inline constexpr Seconds kOperatorLaunch = 10_us;

/// CPU time of a kernel that torch.compile's Python launches, with the tensor that it allocates,
/// its checks, or a product of PyTorch, at a speed of 1. A Llama that is too small for its H100
/// takes 29.6 us a kernel, compiled, on a CPU of speed 0.29 (calib/measured/h100_host.csv). Llama
/// 1B beside a B200 takes 31 us on a CPU that should be faster (stas00/ml-engineering,
/// docs/host.md), a Triton kernel in a loop 6.8 us (meta-pytorch/tritonbench pull request 1017).
inline constexpr Seconds kInductorLaunch = 8.6_us;

/// CPU time to launch one kernel, where neither scenario nor framework says, and where nothing else
/// of PyTorch takes time.
constexpr Seconds default_launch(HostMode mode) {
  // Eager: what element-wise operators of PyTorch take on top of their kernels in
  // sitar-lab/NeuSight@6945927 (16 us beside V100 and A100-40, 19 us beside A100-80; see
  // calib/README.md). Compiled: 3.0 us of cuLaunchKernel on a GB200 (meta-pytorch/tritonbench pull
  // request 1017). Graph: 4 to 6 us of a launch (susun-blog.com/blog/pegainfer-3-cuda-graph).
  if (mode == HostMode::compiled) return 3_us;
  return mode == HostMode::graph ? 5_us : 16_us;
}

/// What is counted where something happens every so many times.
enum class Per { step, micro_batch };

/// What is counted where the host reads every so many times. A pass is one that a stage makes, of a
/// micro-batch and chunk.
enum class ReadPer { step, micro_batch, pass };

/// The part of a step that something follows. Batch: taking one for a forward pass of the model's
/// first or last part; input: taking what a forward pass of any part begins with.
enum class HostAfter { batch, input, forward, backward, step };

/// Passes that are compiled apart.
enum class CompiledPass { forward, backward };

/// What makes a compiled pass meet a shape that it does not know.
enum class NewShape { steps, last_batch };

/// The loop reads a value of the GPU: `loss.item()`, a copy to the CPU, cudaStreamSynchronize.
struct Sync {
  int every = 1;
  ReadPer per = ReadPer::step;
  Seconds time;  ///< the copy takes, once the GPU is done; default: 6 us where `sync` is stated
  bool operator==(const Sync&) const = default;
};

/// Work of the CPU in the loop: loss, metrics.
struct CpuWork {
  std::string name = "CPU work";
  HostAfter after = HostAfter::forward;
  Seconds time;
  int every = 1;
  Per per = Per::micro_batch;
  bool waits = true;  ///< needs what the GPU has computed; false: only delays launches
  Bytes to_host, to_gpu;
  bool operator==(const CpuWork&) const = default;
};

/// A compiled pass meets a shape that it was not compiled for.
struct Recompilation {
  Seconds time;
  CompiledPass pass = CompiledPass::forward;
  NewShape when = NewShape::steps;
  int every = 1;  ///< steps
  bool operator==(const Recompilation&) const = default;
};

/// Python's collector stops the process.
struct GarbageCollection {
  Seconds pause;
  int every = 1;        ///< steps
  bool aligned = true;  ///< all ranks in the same step
  bool operator==(const GarbageCollection&) const = default;
};

/// The CPUs of a node, and how the loop uses them.
struct Host {
  HostMode mode = HostMode::eager;
  HostPace pace = HostPace::launches;
  std::vector<GraphModule> graphs;  ///< modules whose kernels are one launch in each pass
  bool anomaly_detection = false;   ///< torch.autograd.set_detect_anomaly(True)
  double speed = kUsualCpuSpeed;    ///< a core's, over the one that calls were measured on
  Seconds launch;                   ///< CPU time to launch one kernel, or one graph
  std::optional<int> queue_depth;   ///< kernels launched and not started; absent: no limit
  std::optional<Sync> sync;  ///< absent: the end of each step is waited for, which costs nothing
  std::vector<CpuWork> cpu_work;
  std::optional<Recompilation> recompilation;
  std::optional<GarbageCollection> garbage_collection;
  std::optional<double> cores;    ///< in a node; absent: threads never wait for one
  double threads = 1;             ///< busy ones in each GPU's process
  BytesPerSecond optimizer_rate;  ///< an offloaded update's, on all CPUs of a node

  bool graph() const { return mode == HostMode::graph; }
  bool counts_calls() const { return pace == HostPace::calls; }
  bool blocking() const { return mode == HostMode::blocking; }
  bool operator==(const Host&) const = default;
};

/// Whether something that ends each stretch of `every` steps (or micro-batches) happens in this
/// one, counted from 0.
constexpr bool is_due(int index, int every) { return (index + 1) % every == 0; }

}  // namespace stepsim
