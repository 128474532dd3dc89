// Blocks whose weights are not trained, but adapters beside them are.
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// Whether frozen weights that are kept in fp8 alone lie by rows, and are transposed in each
/// backward pass (disable_parameter_transpose_cache: NVIDIA's fine-tuning has it in mlcommons/
/// training_results_v4.0 NVIDIA/benchmarks/llama2_70b_lora, and in NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/perf_recipes/llama). Where products take them either way, or blocks have
/// scales of their own, nothing is.
bool transposes_frozen(const Scenario& scenario);

/// Whether the first layer needs no gradient of its input: with adapters, unless it is a
/// checkpoint, which needs one to be run backward at all. Frameworks then say that the embedding's
/// output has one (huggingface/transformers src/transformers/modeling_utils.py,
/// enable_input_require_grads; NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/peft/recompute.py).
bool begins_without_gradient(const Training& training);

/// For each op whether its inputs depend on an adapter of the same block, which has gradients of
/// them then.
std::vector<bool> behind_adapters(const OpDag& dag);

/// Leaves the gradients of adapters alone, and what they need. `first`: nothing before the block is
/// trained, so that its ops before the first adapter have no backward pass and keep nothing.
void train_adapters_alone(OpDag& dag, bool first);

/// Leaves out what only the gradient of a block's input needs: of the ops up to the first that has
/// parameters. REQUIRES: each op waits for the one before it.
void drop_input_gradient(OpDag& dag);

}  // namespace stepsim
