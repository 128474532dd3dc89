// The time that one kernel takes on one GPU: work x profile -> seconds.
//
// GEMM: the model that the profile names (sim/cluster/gemm/), times `sustained`; a weight gradient
// also times `weight_gradient`, a kernel that makes the products of all experts times `grouped`.
// Experts' products that are kernels of their own take the sum of their times, on several streams,
// too: 80 measured on an H100 are met within 5 to 8 % (calib/README.md, "GEMM"). In fp8 products of
// gradients take `split_accumulator` in place of `sustained` where that is more. Where 16-bit rows
// are not multiples of 16 B, compute takes `unaligned_even` or `unaligned_odd` times as long, and
// moving bytes takes no longer.
// Convolution: the GEMM of its implicit shape, whose bytes are those of the images, times the
// profile's `convolution`: for B images with P x P pixels in and Q x Q out, C channels in and K
// out, R x R taps and stride s, m x n x k is BQQ x K x CRR forward, BPP x C x KRR/ss for the
// input's and K x CRR x BQQ for the weights' gradient (NVIDIA/cutlass
// media/docs/cpp/implicit_gemm_convolution.md). On tensor cores its tiles are 128 x 128, 256 x 64
// or larger, the input's gradient is not split, prologue_k is 0, roundness 2, and bytes move at the
// rate of element-wise kernels.
// Fused attention: FLOPs / (plateau * s / (s + s_half)) with s keys; under a causal mask the half
// that the mask leaves is counted; without a mask, plateau and s_half have other values; backward
// has a rate of its own. In a causal forward pass the last tile comes on top: 2 * rows * s * (d_qk
// + d_v) / (plateau / SMs). Memory bound: n sqrt(latency^2 + (bytes / n / rate)^2) for n kernels.
// Norms and softmax come back to a row that they have read. The rows of all thread blocks together
// have to fit the caches till then: those longer than the profile's `kept_row` begin to be read
// from memory again, those twice as long all are (calib/README.md, "Kernels that move bytes").
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// The seconds of a kernel in a stream of training kernels. Throws InternalError when the profile
/// lacks the precision or the attention kernel; the scenario reader has checked both.
Seconds kernel_time(const Work& work, const GpuProfile& gpu);

/// The bytes that a kernel reads and writes, counting again the part of its rows that has left the
/// caches when it comes back to them.
Bytes bytes_moved(const MemoryBound& kernel, const MemoryProfile& profile);

/// The profile's constants for GEMMs of a precision. Throws InternalError when the profile lacks
/// it.
const GemmProfile& gemm_profile(const GpuProfile& gpu, Precision precision);

/// The profile's constants of an attention kernel for the head dimension, or for the nearest one
/// that was measured. Throws InternalError when the profile lacks the kernel.
const AttentionProfile& attention_profile(const GpuProfile& gpu, const FusedAttention& attention);

/// The peak that MFU is measured against.
FlopsPerSecond peak_rate(const GpuProfile& gpu, Precision precision);

}  // namespace stepsim
