// A gated delta net between its two linear layers: a short convolution along the tokens, the delta
// rule in chunks, and a gated norm.
//
// Yang et al. 2024 (arXiv 2412.06464), section 3.3; modules as in NVIDIA/Megatron-LM
// megatron/core/ssm/gated_delta_net.py and huggingface/transformers
// src/transformers/models/qwen3_next/modeling_qwen3_next.py, which copy queries, keys and values to
// tensors of their own behind the convolution, and repeat queries and keys for each head of values.
//
// The kernels of the rule are those of fla-org/flash-linear-attention
// fla/ops/gated_delta_rule/chunk.py, in chunks of C = 64 tokens. Of a token and a head whose state
// is K x V, in 16 bits but for the products of keys in fp32, those of chunks alone read and write
//   forward    products of keys 2K + 4C, their inverse 6C, what it makes of keys and values
//              4K + 4V + 2C, output 4K + 4V + 2KV/C
//   backward   the inverse's results again 4K + 4V + 2C, gradients of corrected values 4K + 4V, of
//              queries, keys and states 12K + 6V + 4KV/C, of the inverse 6K + 6V + 2C
// and those that go from chunk to chunk
//   forward    4K + 4V + 2KV/C
//   backward   the states again, and their gradients 6K + 6V + 2KV/C
// which wait for the chunk before: a sequence takes so long however few heads it has.
//
// Kimi delta attention (Kimi Team 2025, arXiv 2510.26692, section 3; modules as in
// fla-org/flash-linear-attention fla/layers/kda.py) has a decay for each channel of the keys, which
// narrow layers make, as they do the gates. Its kernels (fla/ops/kda/chunk_fwd.py, chunk_bwd.py)
// read decays in fp32 three times more forward, 12K, write keys that have decayed once more, 2K, and
// read and write decays and their gradients backward, 24K; those from chunk to chunk move as much.
// Queries, keys and values have a convolution each, which leaves them as tensors of their own.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

// What bytes leave over, fitted at K = V = 128 and taken to grow with K V. Forward, 852 shapes on
// H100, H200, B200, GB200, B300 and GB300 (ai-dynamo/aiconfigurator@095f58a,
// chunk_gated_delta_rule, trtllm 1.3.0rc20; QwenLM/FlashQLA@c18a486, fla 0.5.2): 13 % off in the
// mean, by GPU and source between 20 % too short and 13 % too long. Backward, 64 shapes on H200 and
// GB200 (FlashQLA's rows of fla 0.5.2): 18 %, 14 % too long and 12 % too short.

/// Share of the forward kernels' bytes that come from memory and not from caches.
constexpr double kFromMemory = 0.8;
/// Nanoseconds that a multiprocessor takes for a token and head, beside bytes.
constexpr double kForwardBusy = 120, kBackwardBusy = 580;
/// Nanoseconds a position of the longest sequence, from chunk to chunk.
constexpr double kForwardChain = 20, kBackwardChain = 60;

// Kimi delta attention forward, 660 shapes on GPUs from H100 to GB300
// (ai-dynamo/aiconfigurator@095f58a, chunk_kda, sglang 0.5.16): 12 % off in the mean, by GPU between 9 % too short and 2 % too long;
// fla's own on GB200 and B200 are 17 to 24 % shorter, on H20 2 to 6 % (MoonshotAI/FlashKDA@1ce47ea;
// pytorch/helion@3e928d1). Backward, one shape: 9.0 ms of 8192 tokens and 96 heads on B200
// (pytorch/helion@3e928d1 examples/linear/BENCHMARKS.md, both directions less the forward one); its
// chain is longer as that of the rule with one decay a head.
constexpr double kForwardBusyByChannel = 370, kBackwardBusyByChannel = 1350;
constexpr double kForwardChainByChannel = 30, kBackwardChainByChannel = 90;

constexpr double kChunk = 64;

struct NetWidths {
  NetWidths(const Pass& pass, const GatedDeltaNet& d)
      : tokens(static_cast<double>(pass.tokens())),
        keys(static_cast<double>(d.key_width() / pass.tensor)),
        values(static_cast<double>(d.value_width() / pass.tensor)),
        heads(static_cast<double>(d.value_heads / pass.tensor)),
        repeated(heads * static_cast<double>(d.key_dim)),
        channels(2 * keys + values) {}
  double tokens;
  double keys, values;  ///< widths of keys, which queries share, and of values
  double heads;         ///< of values
  double repeated;      ///< width of keys with one for each head of values
  double channels;      ///< of the convolution
};

/// Bytes of a token and head, by kernels of chunks alone and by those from chunk to chunk.
struct RuleBytes {
  double chunks, states;
};

bool decays_channels(const GatedDeltaNet& d) { return d.gate_rank > 0; }

RuleBytes forward_bytes(double k, double v, bool by_channel) {
  const double state = 2 * k * v / kChunk;
  return {(by_channel ? 24 : 10) * k + 8 * v + 12 * kChunk + state, 4 * k + 4 * v + state};
}

RuleBytes backward_bytes(double k, double v, bool by_channel) {
  const double state = 2 * k * v / kChunk;
  return {(by_channel ? 50 : 26) * k + 20 * v + 4 * kChunk + 2 * state,
          10 * k + 10 * v + 2 * state};
}

/// The kernels of one direction.
struct Rule {
  const char *chunks, *states;  ///< names
  double share, busy, chain;
};

/// Kernels of chunks alone in either direction, the four of each list at the top, which are taken to
/// be equal, before the one that goes from chunk to chunk.
constexpr int kChunkKernels = 4;

void add_rule(Items& items, const Pass& pass, const GatedDeltaNet& d, const RuleBytes& bytes,
              const Rule& rule) {
  const NetWidths w(pass, d);
  const double pairs = w.tokens * w.heads;
  const double each = pairs / kChunkKernels;
  const double size = static_cast<double>(d.key_dim * d.value_dim) / (128.0 * 128.0);
  for (int i = 0; i < kChunkKernels; ++i) {
    Launch chunks = memory_bound(rule.chunks, rule.share * bytes.chunks * each);
    std::get<MemoryBound>(chunks.work).occupied = Seconds{rule.busy * size * each * 1e-9};
    items.emplace_back(std::move(chunks));
  }
  Launch states = memory_bound(rule.states, rule.share * bytes.states * pairs);
  std::get<MemoryBound>(states.work).chain =
      Seconds{rule.chain * static_cast<double>(pass.sequence) * 1e-9};
  items.emplace_back(std::move(states));
}

constexpr double kDecay = 4;    // bytes of a decay, in fp32
constexpr double kFactors = 2;  // a head's decay and how much it learns

}  // namespace

std::int64_t delta_net_input_width(const Pass& pass, const GatedDeltaNet& d) {
  if (decays_channels(d))
    return (2 * d.key_width() + d.value_width() + d.value_heads) / pass.tensor;
  return 2 * (d.key_width() + d.value_width() + d.value_heads) / pass.tensor;
}

Op gated_delta_net(const Pass& pass, const GatedDeltaNet& d) {
  const NetWidths w(pass, d);
  const double element = pass.element();
  const double convolution = 2 * element * w.tokens * w.channels;
  const double pairs = w.tokens * w.heads;
  const double norms = 2 * element * w.tokens * 2 * w.keys;
  const double repeated = 2 * element * w.tokens * (w.keys + w.repeated);
  const bool by_channel = decays_channels(d);
  // A channel has what the narrow layers make, its decay in fp32, and the decays' sum over a chunk.
  const double factors = by_channel
                             ? (element + 3 * kDecay) * w.tokens * w.keys + 2 * element * pairs
                             : (kFactors * element + element + kDecay) * pairs;
  const double one = element * w.tokens * w.values;
  const bool repeats = d.value_heads > d.key_heads;
  const auto k = static_cast<double>(d.key_dim), v = static_cast<double>(d.value_dim);
  Op op;
  op.name = "delta net";
  // Taps; of each head the decay, and the bias of its step or of each channel's; one norm for all.
  op.parameters = {w.channels * static_cast<double>(d.convolution), w.heads,
                   by_channel ? w.keys : w.heads, v};
  op.output = Bytes{one};
  Items& f = op.forward;
  f.emplace_back(memory_bound("causal convolution", convolution));
  if (!by_channel) f.emplace_back(memory_bound("queries, keys, values laid out", convolution));
  f.emplace_back(memory_bound("norms of queries and keys", norms, MemoryRate::norm));
  if (repeats) f.emplace_back(memory_bound("queries and keys repeated", repeated));
  f.emplace_back(memory_bound("decays", factors));
  add_rule(f, pass, d, forward_bytes(k, v, by_channel),
           {"delta rule chunks", "delta rule states", kFromMemory,
            by_channel ? kForwardBusyByChannel : kForwardBusy,
            by_channel ? kForwardChainByChannel : kForwardChain});
  f.emplace_back(memory_bound("gated norm", 3 * one, MemoryRate::norm));

  Items& b = op.backward;
  b.emplace_back(memory_bound("gated norm backward", 5 * one, MemoryRate::norm));
  add_rule(b, pass, d, backward_bytes(k, v, by_channel),
           {"delta rule chunks backward", "delta rule states backward", 1,
            by_channel ? kBackwardBusyByChannel : kBackwardBusy,
            by_channel ? kBackwardChainByChannel : kBackwardChain});
  b.emplace_back(memory_bound("decays backward", 2 * factors));
  if (repeats) b.emplace_back(memory_bound("queries and keys gradient sum", repeated));
  b.emplace_back(memory_bound("norms of queries and keys backward", 1.5 * norms, MemoryRate::norm));
  if (!by_channel)
    b.emplace_back(memory_bound("queries, keys, values gradient joined", convolution));
  b.emplace_back(memory_bound("causal convolution backward", 1.5 * convolution));
  for (const double tensor : op.parameters) b.emplace_back(GradientReady{tensor});

  // Kept are the output of the linear layer before the net; queries, keys and values as the rule
  // takes them, its factors, the inverse of a chunk, and its output; by channels also what makes
  // decays and gates, and the products of queries with keys.
  const double decays = by_channel ? (kDecay + element) * w.tokens * w.keys + one : kDecay * pairs;
  const double matrices = (by_channel ? 2 : 1) * element * kChunk;
  op.saved = Bytes{element * w.tokens * static_cast<double>(delta_net_input_width(pass, d)) +
                   element * w.tokens * (2 * w.repeated + w.values) + decays +
                   (element + matrices) * pairs + one};
  op.kept_for_weights = op.saved;
  // Megatron-LM counts the convolution, and four products of a state
  // (megatron/training/training.py, num_floating_point_operations).
  op.flops =
      Flops{2 * w.tokens * (static_cast<double>(d.convolution) * w.channels + 4 * w.heads * k * v)};
  return op;
}

}  // namespace stepsim
