// Kernels that several styles share.
#pragma once

#include <span>
#include <string>

#include "sim/ops/attention_shape.hpp"
#include "sim/ops/kernels.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {

/// A library's norm: a read and a write forward; backward one kernel for the input's gradient (the
/// output's, the input, the result) and one for the weights' (two reads). Forward it reads a row
/// for its mean and variance, and once more to scale it; the input's gradient comes back to both of
/// its inputs (pytorch/pytorch aten/src/ATen/native/cuda/layer_norm_kernel.cu).
void library_norm(Op& op, const Pass& pass, const NormShape& shape);

/// An activation by one kernel in each direction, which keeps what it read.
ActivationKernels joined_activation(const std::string& name, double one, bool gated);

/// Dropout by one kernel in each direction, which keeps a byte an element.
DropoutKernels library_dropout();

/// PyTorch's softmax, which reads a row for its largest element, for the sum, and for the result
/// (pytorch/pytorch aten/src/ATen/native/cuda/SoftMax.cu); no times of its gradient's kernel were
/// found.
RowSoftmax library_row_softmax();

/// The softmax of unfused or eager attention by the operations that its source is written in.
///
/// Unfused, it is a cast to fp32, the mask, the softmax and a cast back, and keeps its fp32 output
/// (NVIDIA/Megatron-LM megatron/core/fusions/fused_softmax.py, forward_torch_softmax). A mask that
/// is filled in place has a gradient that is not: a copy, which is then filled (pytorch/pytorch
/// aten/src/ATen/native/TensorAdvancedIndexing.cpp, masked_fill). Eager attention scales the
/// scores, adds the mask and takes the softmax in their own precision, each by a kernel
/// (NVIDIA/DeepLearningExamples PyTorch/LanguageModeling/BERT/modeling.py, BertSelfAttention, and
/// TensorFlow/LanguageModeling/BERT/modeling.py, attention_layer).
void softmax_by_operations(Op& op, const Pass& pass, const AttentionShape& shape);

/// Megatron-LM's softmax, one kernel with its mask and dropout another one; a causal mask spares it
/// the half of its inputs that it hides.
void softmax_by_kernel(Op& op, const Pass& pass, const AttentionShape& shape);

/// Rotary positions (Su et al. 2021, arXiv 2104.09864) by one kernel that reads and writes queries
/// and keys.
void joined_rotary(Items& items, const Pass& pass, const AttentionShape& shape);
void joined_rotary_backward(Items& items, const Pass& pass, const AttentionShape& shape);
/// By the operations that their source is written in, a kernel each for queries and for keys.
/// `tensors`: how many tensors of the size of queries, or of keys, each reads and writes.
void rotary_by_operations(Items& items, const Pass& pass, const AttentionShape& shape,
                          const char* name, std::span<const double> tensors);

/// A cross entropy as its library computes it, whoever makes the other kernels.
LossTraffic library_loss(CrossEntropy library, double element, bool whole);
/// Whether a compiler makes the kernels of the cross entropy, for they are none of a library.
bool is_open(CrossEntropy library);
/// Bytes a logit of a loss that is computed again to be reported: metrics know nothing of the loss,
/// PyTorch's cross entropy runs again, forward only (mosaicml/composer composer/metrics/nlp.py,
/// LanguageCrossEntropy).
double metric_traffic(double element);

}  // namespace stepsim
