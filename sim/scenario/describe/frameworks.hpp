// What training frameworks do where nobody says otherwise, and where that is written.
//
// `framework: megatron` replaces the defaults of the keys that follow it; a key that is stated
// wins. Each default is one line of `framework_presets`, with the file of the framework that it
// comes from; docs/frameworks.md is made from it, and a test holds every line against what the
// reader does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The defaults of parallelism.data that depend on nothing else. A bucket of 0 B is counted in
/// elements, and sized by size_buckets.
DataParallel default_data(std::optional<Framework> framework);

/// Megatron-LM accumulates and reduces bf16 gradients in fp32; everywhere else they are as the
/// GEMMs.
Precision default_gradients(std::optional<Framework> framework, Precision precision);
/// Megatron-LM's; PyTorch's autograd and DeepSpeed add what a GEMM wrote. Of FSDP's shards the
/// block takes care.
bool default_fused_accumulation(std::optional<Framework> framework);
/// PyTorch's optimizers free them (since 2.0); Megatron-LM clears the buffers that it keeps them
/// in.
UsedGradients default_used_gradients(std::optional<Framework> framework);
/// PyTorch's optimizers run an operation over all tensors at once; Megatron-LM's and DeepSpeed's
/// are Apex's fused ones or their like.
OptimizerKernels default_optimizer_kernels(std::optional<Framework> framework);
/// PyTorch and DeepSpeed run modules as they are written, unless somebody compiles them.
std::string default_fusion(std::optional<Framework> framework);
/// Megatron-LM's is Transformer Engine.
TransformerImpl default_transformer_impl(std::optional<Framework> framework);
std::optional<std::int64_t> default_vocabulary_multiple(std::optional<Framework> framework);
/// Megatron-LM's transfers that are not overlapped are batched.
bool default_batch_p2p_sync(std::optional<Framework> framework, bool overlap_p2p);
/// Modules that Python calls one by one take their time; without a framework none are known.
HostPace default_pace(std::optional<Framework> framework, HostMode mode);
/// What torch.compile writes is Python, what XLA writes is not.
bool compiles_to_python(std::optional<Framework> framework, HostMode mode);
/// `speed`: of the host's CPU, by which Python's launches go: compiled ones, and operators' where
/// calls take time.
Seconds default_launch(std::optional<Framework> framework, HostMode mode, HostPace pace,
                       double speed);
/// Whether tensor parallelism is PyTorch's own, by DTensor.
bool default_dtensor(std::optional<Framework> framework, int tensor);
bool default_overlap(std::optional<Framework> framework, const Sharding& sharding);
bool default_no_sync(std::optional<Framework> framework, const Sharding& sharding);

/// Elements of a bucket of Megatron-LM and DeepSpeed, which count parameters, not bytes.
double bucket_elements(Framework framework, int data_parallel);

/// Sizes the buckets that are left at 0 B, once gradient type and data-parallel degree are known.
void size_buckets(Scenario& scenario);

/// A key that a framework has another default for.
struct FrameworkPreset {
  Framework framework;
  std::string path;    ///< "parallelism.data.overlap"
  std::string value;   ///< as to_yaml writes it
  std::string when;    ///< override under which it holds, "path=value"; empty: always
  std::string note;    ///< what stands behind it
  std::string source;  ///< repository and file
};
const std::vector<FrameworkPreset>& framework_presets();

/// The tables of docs/frameworks.md.
std::string framework_reference();

}  // namespace stepsim
