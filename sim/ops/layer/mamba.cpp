// A Mamba-2 mixer between its two linear layers: a short convolution along the tokens, the state
// space in chunks, and a gated norm.
//
// Dao and Gu 2024 (arXiv 2405.21060), sections 6 and 7; kernels of state-spaces/mamba
// mamba_ssm/ops/triton/ssd_combined.py, as NVIDIA/Megatron-LM megatron/core/ssm/mamba_mixer.py calls
// them. Of a token and head with P numbers and a state of N x P, in chunks of Q tokens, of which G
// groups share the N numbers of B and C, they move at least, in 16 bits but for states and products
// of chunks in fp32:
//   states of chunks      read x 2 P and B 2 N G/H, write 4 N P / Q
//   states passed on      read and write 4 N P / Q each
//   products of a chunk   read B and C 4 N G/H, write 4 Q G/H
//   output of a chunk     read x 2 P, products 4 Q G/H, C 2 N G/H, states 4 N P / Q, write y 2 P
// The backward pass computes states and products again.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

/// Time of the forward kernels over that of these bytes at the rate of element-wise kernels: 0.6 ns
/// a token and head of 64 numbers with states of 128 on B200 in chunks of 128, 8 heads a group
/// (ai-dynamo/aiconfigurator@095f58a, mamba2 chunk scan, trtllm 1.3.0rc15), which are 1664 bytes at
/// 6.0 TB/s.
constexpr double kSlowerThanBytes = 2.16;

/// Backward over forward: no measurement of Mamba-2 was found; another linear attention in chunks,
/// the gated delta net of fla, takes 3.0 to 3.5 times as long (QwenLM/FlashQLA@c18a486,
/// pytorch/helion@3e928d1).
constexpr double kBackward = 3.2;

struct Widths {
  Widths(const Pass& pass, const MambaShape& m)
      : tokens(static_cast<double>(pass.tokens())),
        heads(static_cast<double>(m.heads / pass.tensor)),
        groups(static_cast<double>(m.groups / pass.tensor)),
        inner(heads * static_cast<double>(m.head_dim)),
        channels(inner + 2 * groups * static_cast<double>(m.state)) {}
  double tokens, heads, groups;
  double inner;     ///< width of the mixer
  double channels;  ///< of the convolution: the mixer's, B and C
};

/// Bytes of the chunks' kernels, a token and head.
double chunk_bytes(const MambaShape& m, const Widths& w) {
  const auto head = static_cast<double>(m.head_dim), state = static_cast<double>(m.state);
  const auto chunk = static_cast<double>(m.chunk);
  const double shared = w.groups / w.heads;
  const double states = 4 * state * head / chunk;
  return 6 * head + (2 + 4 + 2) * state * shared + 2 * 4 * chunk * shared + 4 * states;
}

}  // namespace

std::int64_t mamba_input_width(const Pass& pass, const MambaShape& m) {
  const std::int64_t inner = m.heads * m.head_dim;
  return (2 * inner + 2 * m.groups * m.state + m.heads) / pass.tensor;
}

Op mamba_mixer(const Pass& pass, const MambaShape& m) {
  const Widths w(pass, m);
  const double element = pass.element();
  const double convolution = 2 * element * w.tokens * w.channels;
  const double scan = w.tokens * w.heads * chunk_bytes(m, w);
  const double one = element * w.tokens * w.inner;
  const auto taps = static_cast<double>(m.convolution);
  Op op;
  op.name = "mamba mixer";
  op.parameters = {w.channels * taps, w.channels, w.heads, w.heads, w.heads, w.inner};
  op.output = Bytes{one};
  const auto scanned = [&](const char* name, double times) {
    Launch launch = memory_bound(name, scan);
    std::get<MemoryBound>(launch.work).slower = times;
    return launch;
  };
  op.forward.emplace_back(memory_bound("causal convolution", convolution));
  op.forward.emplace_back(scanned("chunk scan", kSlowerThanBytes));
  // The output and the gate in, their norm out.
  op.forward.emplace_back(memory_bound("gated norm", 3 * one, MemoryRate::norm));
  op.backward.emplace_back(memory_bound("gated norm backward", 5 * one, MemoryRate::norm));
  op.backward.emplace_back(memory_bound("causal convolution again", convolution));
  op.backward.emplace_back(scanned("chunk scan backward", kBackward * kSlowerThanBytes));
  op.backward.emplace_back(memory_bound("causal convolution backward", 1.5 * convolution));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  // What the linear layer before it hands on, and the scan's output.
  op.saved = Bytes{element * w.tokens * static_cast<double>(mamba_input_width(pass, m)) + one};
  op.kept_for_weights = op.saved;
  // As Megatron-LM counts it (megatron/training/training.py, mamba_layer_flops).
  op.flops = Flops{7 * w.tokens * w.inner * static_cast<double>(m.state)};
  return op;
}

}  // namespace stepsim
