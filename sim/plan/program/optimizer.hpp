// The optimizer step as kernels, or as copies around an update on the CPU.
#pragma once

#include "sim/plan/program/plan_draft.hpp"

namespace stepsim {

/// Divides gradients by the number of replicas before all of them are reduced at once (NVIDIA/
/// Megatron-LM megatron/core/distributed/param_and_grad_buffer.py, start_grad_sync).
Kernel averaging_kernel(PlanDraft& draft, double gradients);
/// Casts so many gradients to the type that they are reduced in, or back.
Kernel cast_kernel(PlanDraft& draft, const char* name, double gradients);

/// Copies gradients that are reduced at once into their buckets, or back.
Kernel bucket_kernel(PlanDraft& draft, const char* name, double gradients);

/// What the host looks at before gradients are reduced, in kernels between two looks: whether their
/// norm is a number, and whether it is finite (NVIDIA/Megatron-LM
/// megatron/core/distributed/param_and_grad_buffer.py, check_grads).
std::vector<std::vector<Kernel>> gradient_checks(PlanDraft& draft, Bytes gradients);

/// Whether each gradient is copied to its bucket and back (PyTorch's DDP without
/// gradient_as_bucket_view).
bool copies_gradients(const Scenario& scenario);

/// What comes before the ranks agree on a norm: gradients to fp32, unscaling, the norm where it is
/// clipped.
std::vector<Kernel> norm_kernels(PlanDraft& draft, double elements);

/// The update of `elements` parameters, in kernels for each of `tensors` where they are one by one,
/// and clearing their `gradients`. `matrices`: those of the parameters that are updated as such, in
/// other kernels (matrix_updates.hpp).
std::vector<Kernel> update_kernels(PlanDraft& draft, double elements,
                                   const std::vector<double>& tensors,
                                   const std::vector<double>& gradients, double matrices = 0);

/// Clearing gradients where nothing is updated on the GPU; elements of each tensor.
std::vector<Kernel> clear_kernels(PlanDraft& draft, const std::vector<double>& gradients);

/// Parameters of a stage on this rank that are multiplied in fp8.
struct QuantisedElements {
  double others = 0, experts = 0;
  double of(bool expert) const { return expert ? experts : others; }
  double total() const { return others + experts; }
};
QuantisedElements quantised_elements(const Scenario& scenario, const OpGraph& graph, int stage);

/// The kernels that quantise fp8 weights by rows and columns, once a step after the update
/// (TransformerEngine does it in the first micro-batch, is_first_microbatch). None where each pass
/// quantises after a gather.
std::vector<Kernel> quantise_kernels(PlanDraft& draft, double elements);

/// Elements of each parameter tensor of a stage, or of this rank's shard of it. `swept`: of those
/// that are not updated as matrices.
std::vector<double> elements_of_tensors(const PlanDraft& draft, int stage, bool sharded,
                                        bool swept = false);

/// An update on the CPU (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840): gradients to its memory,
/// the update at host.optimizer_rate shared by the ranks of a node, weights back.
struct OffloadedUpdate {
  Seconds update, weights;
};
OffloadedUpdate offloaded_update(const Scenario& scenario, double elements);
/// To the CPU's memory.
Seconds copy_time(const Scenario& scenario, Bytes bytes);

}  // namespace stepsim
