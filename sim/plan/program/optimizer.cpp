// Bytes of an optimizer step, kernel by kernel.
//
// 16-bit training keeps fp32 master weights: gradients are copied to fp32 and unscaled, the update
// runs in fp32, the weights are copied back (NVIDIA/Megatron-LM
// megatron/core/optimizer/optimizer.py, MixedPrecisionOptimizer). Or one kernel does all of it
// (apache/mxnet src/operator/optimizer_op-inl.h, MultiSGDKernel; NVIDIA/apex
// csrc/multi_tensor_sgd_kernel.cu). What the update itself moves is the optimizer's
// (optimizer_rule.hpp).
#include "sim/plan/program/optimizer.hpp"

#include <numeric>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/chains.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

Kernel moving(PlanDraft& draft, const std::string& name, double bytes) {
  return timed(draft, name, MemoryBound{Bytes{bytes}, MemoryRate::optimizer}, Cause::optimizer);
}

/// Whether narrow gradients are copied to the fp32 that the update works on. FSDP casts what it
/// has reduced to the type of the parameters (pytorch/pytorch
/// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce).
bool widens(const Scenario& scenario) {
  const Training& training = scenario.training;
  if (gradient_bytes(scenario) < training.kept_gradient_element()) return true;
  return keeps_master_weights(training) && gradient_bytes(scenario) < kFp32 &&
         !casts_in_update(training);
}

/// Bytes of a gradient that is scaled, measured or clipped.
double scaled_gradient_bytes(const Scenario& scenario) {
  const bool wide = keeps_master_weights(scenario.training) && !casts_in_update(scenario.training);
  return wide ? kFp32 : scenario.training.kept_gradient_element();
}

}  // namespace

Kernel averaging_kernel(PlanDraft& draft, double gradients) {
  return moving(draft, "average gradients", 2 * reduced_bytes(draft.scenario) * gradients);
}

Kernel cast_kernel(PlanDraft& draft, const char* name, double gradients) {
  const double each = gradient_bytes(draft.scenario) + reduced_bytes(draft.scenario);
  return moving(draft, name, each * gradients);
}

Kernel bucket_kernel(PlanDraft& draft, const char* name, double gradients) {
  return moving(draft, name, 2 * gradient_bytes(draft.scenario) * gradients);
}

std::vector<std::vector<Kernel>> gradient_checks(PlanDraft& draft, Bytes gradients) {
  const auto scalar = [&](const char* name) {
    return moving(draft, name, 2 * gradient_bytes(draft.scenario));
  };
  return {{moving(draft, "norm of bucket", gradients.bytes()), scalar("norm is NaN")},
          {scalar("size of norm"), scalar("norm is infinite")}};
}

bool copies_gradients(const Scenario& scenario) {
  const DataParallel& data = scenario.parallelism.data;
  return !data.bucket_views && data.sharding.shards() == 0;
}

std::vector<Kernel> norm_kernels(PlanDraft& draft, double elements) {
  const Training& training = draft.scenario.training;
  std::vector<Kernel> kernels;
  const double read = gradient_bytes(draft.scenario);
  const bool on_gpu = !draft.scenario.parallelism.data.offload_optimizer;
  if (on_gpu && widens(draft.scenario))
    kernels.push_back(moving(draft, "gradients to fp32", (read + kFp32) * elements));
  const double gradient = on_gpu ? scaled_gradient_bytes(draft.scenario) : read;
  // Only fp16 scales its loss (torch.amp.GradScaler; Megatron-LM ConstantGradScaler and
  // DynamicGradScaler). The same kernel looks for values that are not finite.
  if (on_gpu && training.precision == Precision::fp16 && !casts_in_update(training))
    kernels.push_back(moving(draft, "unscale gradients", 2 * gradient * elements));
  if (training.gradient_clipping)
    kernels.push_back(moving(draft, "gradient norm", gradient * elements));
  return kernels;
}

std::vector<Kernel> update_kernels(PlanDraft& draft, double elements,
                                   const std::vector<double>& tensors,
                                   const std::vector<double>& gradients, double matrices) {
  const Training& training = draft.scenario.training;
  const std::vector<double> at_once{elements - matrices};
  const bool each = training.optimizer_kernels == OptimizerKernels::per_tensor ||
                    training.optimizer_kernels == OptimizerKernels::composed;
  std::vector<Kernel> kernels;
  if (training.gradient_clipping) {
    const double gradient = scaled_gradient_bytes(draft.scenario);
    kernels.push_back(moving(draft, "clip gradients", 2 * gradient * elements));
  }
  for (const UpdateSweep& sweep : sweeps_of(training)) {
    for (const double tensor : each ? tensors : at_once) {
      kernels.push_back(
          moving(draft, std::string(sweep.name), sweep_bytes(sweep, training) * tensor));
    }
  }
  if (keeps_master_weights(training) && !casts_in_update(training)) {
    const double weight = training.parameter_element();
    kernels.push_back(moving(draft, "weights from fp32", (kFp32 + weight) * elements));
  }
  const std::vector<Kernel> clear = clear_kernels(draft, gradients);
  kernels.insert(kernels.end(), clear.begin(), clear.end());
  return kernels;
}

std::vector<Kernel> clear_kernels(PlanDraft& draft, const std::vector<double>& gradients) {
  const double each = gradient_bytes(draft.scenario);
  const double all = std::accumulate(gradients.begin(), gradients.end(), 0.0);
  std::vector<Kernel> kernels;
  switch (draft.scenario.training.used_gradients) {
    case UsedGradients::clear_buffer:
      return {moving(draft, "clear gradients", each * all)};
    case UsedGradients::clear_tensors:
      for (const double tensor : gradients)
        kernels.push_back(moving(draft, "clear gradient", each * tensor));
      return kernels;
    case UsedGradients::free:
    case UsedGradients::keep:
      return {};
  }
  return kernels;
}

QuantisedElements quantised_elements(const Scenario& scenario, const OpGraph& graph, int stage) {
  QuantisedElements elements;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(scenario, graph, stage, chunk)) {
      for (const Op& op : graph.blocks[block].dag.ops)
        (op.expert ? elements.experts : elements.others) += op.quantised;
    }
  }
  return elements;
}

std::vector<Kernel> quantise_kernels(PlanDraft& draft, double elements) {
  const Scenario& scenario = draft.scenario;
  const bool in_passes = scenario.parallelism.data.sharding.shards_parameters;
  if (elements == 0 || in_passes) return {};
  const Quantisation recipe = scenario.training.quantisation();
  const int copies = quantised_copies(recipe, scenario.cluster.gpu.architecture);
  if (!scenario.training.fp8_parameters)
    return {timed(draft, "quantise weights",
                  MemoryBound{.bytes = Bytes{cast_bytes(recipe, copies) * elements},
                              .rate = MemoryRate::optimizer,
                              .slower = cast_slower(recipe)},
                  Cause::optimizer)};
  // What was gathered quantised lies by rows and is written by columns.
  if (copies == 1) return {};
  return {moving(draft, "transpose weights", 2 * quantised_bytes(recipe) * elements)};
}

std::vector<double> elements_of_tensors(const PlanDraft& draft, int stage, bool sharded,
                                        bool swept) {
  const bool skips = swept && updates_matrices(draft.scenario.training);
  std::vector<double> tensors;
  for (int chunk = 0; chunk < draft.scenario.parallelism.pipeline.chunks; ++chunk) {
    const StageParameters parameters = chunk_parameters(draft.scenario, draft.graph, stage, chunk);
    for (const std::size_t block : blocks_of(draft.scenario, draft.graph, stage, chunk)) {
      const bool hidden = skips && draft.graph.blocks[block].recomputable;
      for (const Op* op : draft.graph.blocks[block].order()) {
        const int replicas = op->expert ? parameters.expert_replicas : parameters.replicas;
        for (std::size_t i = hidden ? op->matrices.size() : 0; i < op->parameters.size(); ++i)
          tensors.push_back(op->parameters[i] * share(sharded, replicas));
      }
    }
  }
  return tensors;
}

OffloadedUpdate offloaded_update(const Scenario& scenario, double elements) {
  const Training& training = scenario.training;
  const double weight = training.parameter_element();
  double bytes = keeps_master_weights(training) ? weight : 0;
  // Clipped and unscaled in one pass over the gradients (DeepSpeed stage_1_and_2.py,
  // unscale_and_clip_grads).
  if (training.gradient_clipping || training.precision == Precision::fp16) bytes += 2 * kFp32;
  for (const UpdateSweep& sweep : optimizer_rule(training).fused)
    bytes += sweep_bytes(sweep, training);
  const double on_node = scenario.cluster.gpus_per_node;
  return {Bytes{bytes * elements * on_node} / scenario.host.optimizer_rate,
          copy_time(scenario, Bytes{weight * elements})};
}

Seconds copy_time(const Scenario& scenario, Bytes bytes) {
  return bytes / scenario.cluster.gpu.copy_pinned;
}

}  // namespace stepsim
