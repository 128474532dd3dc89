// Which attention kernel runs where nobody says (`training.attention: auto`).
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Whether a kernel takes what the model's attention does to the scores. FlashAttention's take no
/// bias (Dao-AILab/flash-attention, flash_attn_interface.py) and have no gradients of sinks (its
/// issues 1797 and 2102); cuDNN's have both (NVIDIA/cudnn-frontend, docs, SDPA). A cap of scores is
/// in FlashAttention 2 and 3 alone (NVIDIA/TransformerEngine pull request 3391).
bool can_compute_attention(const std::string& kernel, const Transformer& model);

/// The kernel that the scenario's framework would choose on its GPU, among those that the GPU's
/// profile has and that can compute this model's attention. From Hopper on PyTorch and Transformer
/// Engine prefer cuDNN's kernels, before it FlashAttention 2 (pytorch/pytorch
/// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_prefer_cudnn_attention;
/// NVIDIA/TransformerEngine transformer_engine/pytorch/attention/dot_product_attention/utils.py,
/// get_attention_backend). Without a framework, or where the profile has none of these, it is the
/// fastest. `unfused` where there is none: for fp32 and tf32, and on GPUs without such constants.
/// REQUIRES: model, cluster, framework and the other keys of training are read.
std::string default_attention(const Scenario& scenario);

/// Replaces `auto`.
void resolve_attention(Scenario& scenario);

}  // namespace stepsim
