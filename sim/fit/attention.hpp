// Fused attention: the constants of one kernel and head size, by the formula of kernel_time
// (sim/cluster/kernel_time.hpp).
#pragma once

#include "sim/fit/sample.hpp"

namespace stepsim::fit {

/// Least mean |log(modelled / measured)|. What the samples do not show (no causal ones, none
/// without a mask, no backward pass) is as in `start`, or follows from what they do show: without a
/// mask the causal plateau and a third of its half_sequence, and the other way round. `sms` are
/// those of the GPU. REQUIRES: samples of FusedAttention of that kernel and head size, of which at
/// least one is forward.
AttentionProfile fit_attention(const Samples& samples, const AttentionProfile& start, int sms);

/// The model of one kernel on a GPU with so many SMs.
Model attention_model(const AttentionProfile& profile, int sms);

}  // namespace stepsim::fit
