// Fused attention: the constants of one kernel and head size, by the formula of kernel_time
// (sim/cluster/kernel_time.hpp).
#pragma once

#include "sim/calibrate/fit/sample.hpp"

namespace stepsim::fit {

/// Tables of inference time a kernel with what writes its keys and values into a cache. That write
/// is a kernel of its own, which training lacks: it is fitted beside the others and left out of the
/// profile.
struct AttentionFit {
  AttentionProfile profile;
  double cache_seconds_per_byte = 0;
};

/// Least mean |log(modelled / measured)|. What the samples do not show (no causal ones, none
/// without a mask, no backward pass) is as in `start`, or follows from what they do show: without a
/// mask the causal plateau and a third of its half_sequence, and the other way round. `sms` are
/// those of the GPU. REQUIRES: samples of FusedAttention of that kernel and head size, of which at
/// least one is forward.
///
/// The write of the cache shows beside the rest only where some kernels have fewer heads of keys
/// than of queries; otherwise it is taken as given.
AttentionFit fit_attention(const Samples& samples, const AttentionProfile& start, int sms,
                           double cache_seconds_per_byte);

/// Errors against times as they were measured, with their writes into a cache.
Errors attention_errors(const AttentionFit& fit, int sms, const Samples& samples);

}  // namespace stepsim::fit
