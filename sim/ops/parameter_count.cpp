// Parameters of a model as papers count them: whole, unpadded, embeddings included.
#include <algorithm>

#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

double norm_size(const Transformer& m, std::int64_t width) {
  return real(width) * (!m.rms_norm && m.bias ? 2 : 1);
}

/// Two or three matrices between `hidden` and the inner width.
double mlp_size(const Transformer& m, std::int64_t ffn) {
  return real(m.hidden) * real(ffn) * (m.gated_mlp ? 3 : 2);
}

double mlp_biases(const Transformer& m) {
  return m.bias ? real(m.gated_mlp ? 2 * m.ffn : m.ffn) + real(m.hidden) : 0;
}

double plain_attention(const Transformer& m) {
  const double queries = real(m.heads * m.head_dim);
  const double gates = m.attention_gate ? queries : 0;
  const double qkv = real((m.heads + 2 * m.kv_heads) * m.head_dim) + gates;
  const double sinks = m.sinks ? real(m.heads) : 0;
  const double biases = (m.bias || m.qkv_bias ? qkv : 0) + (m.bias ? real(m.hidden) : 0);
  return real(m.hidden) * (qkv + queries) + biases + sinks + real(qk_norm_size(m));
}

double latent_attention(const Transformer& m) {
  const LatentAttention& a = *m.mla;
  const double heads = real(m.heads);
  const double keys = heads * real(a.key_dim());
  const double queries =
      a.query_rank > 0 ? real(a.query_rank) * (real(m.hidden) + keys) + norm_size(m, a.query_rank)
                       : real(m.hidden) * keys;
  const double kv = real(m.hidden) * real(a.kv_rank + a.rope_dim) + norm_size(m, a.kv_rank) +
                    real(a.kv_rank) * heads * real(a.nope_dim + a.value_dim);
  return queries + kv + heads * real(a.value_dim) * real(m.hidden);
}

/// One expert with its biases.
double expert_size(const Transformer& m) {
  const Experts& e = *m.experts;
  const double biases = e.bias ? real((m.gated_mlp ? 2 : 1) * e.ffn + m.hidden) : 0;
  return mlp_size(m, e.ffn) + biases;
}

double expert_layer(const Transformer& m) {
  const Experts& e = *m.experts;
  const double router = real((m.hidden + (e.bias ? 1 : 0)) * e.count);
  return router + real(e.count) * expert_size(m) + mlp_size(m, e.shared_ffn) +
         (e.shared_gate ? real(m.hidden) : 0);
}

/// Tables that make tokens of the input, of each stack where they are not shared, and what stands
/// between the layers and the loss.
double ends(const Transformer& m) {
  const double stacks = m.encoder_layers > 0 ? 2 : 1;
  const double h = real(m.hidden);
  double sum = (m.tower ? parameter_count(*m.tower, m.hidden) : 0) +
               stacks * real(m.positions + m.token_types) * h +
               stacks * real(m.relative_positions * m.heads);
  if (m.vision) {
    const double classes = real(m.vision->classes);
    return sum + (real(m.vision->patch_values()) + 2) * h + (h + 1) * classes;
  }
  sum += real(m.vocabulary) * (m.tied_embeddings ? 1 : 2) * h;
  if (!m.masked) return sum;
  sum += h * (h + 1) + norm_size(m, m.hidden) + real(m.vocabulary);
  return sum + (m.masked->next_sentence ? h * (h + 1) + 2 * (h + 1) : 0);
}

/// What a depth of multi-token prediction has around its layer: a projection of two vectors to one,
/// and a norm of each of these and of the output.
double mtp_joint(const Transformer& m) {
  return 2 * real(m.hidden) * real(m.hidden) + 3 * norm_size(m, m.hidden);
}

/// A depth whose layer is like the last ones.
double mtp_layer(const Transformer& m, double attention) {
  const double mlp = m.experts ? expert_layer(m) : mlp_size(m, m.ffn) + mlp_biases(m);
  return attention + mlp + 2 * norm_size(m, m.hidden) + mtp_joint(m);
}

/// A mixer: both linear layers, convolution with biases, a decay, a skip and a step's bias a head,
/// and the gated norm.
double mixer(const Transformer& m) {
  const HybridLayers& x = *m.hybrid;
  const double inner = real(x.heads * x.head_dim), shared = 2 * real(x.groups * x.state);
  const double biases = m.bias ? 2 * inner + shared + real(x.heads) + real(m.hidden) : 0;
  return real(m.hidden) * (2 * inner + shared + real(x.heads)) +
         (inner + shared) * real(x.convolution + 1) + 3 * real(x.heads) + inner +
         inner * real(m.hidden) + biases;
}

/// A gated delta net: both linear layers, taps, a decay and a step's bias a head, and one norm. Or
/// narrow layers of decays and of gates instead of wide ones, and a step's bias a channel.
double delta_net(const Transformer& m) {
  const GatedDeltaNet& d = *m.hybrid->delta_net;
  const double keys = real(d.key_width()), values = real(d.value_width());
  const double heads = real(d.value_heads), rank = real(d.gate_rank);
  const double gates =
      rank > 0 ? rank * (2 * real(m.hidden) + keys + values) : real(m.hidden) * (values + heads);
  return real(m.hidden) * (2 * keys + values + heads) + gates +
         (2 * keys + values) * real(d.convolution) + heads + (rank > 0 ? keys : heads) +
         real(d.value_dim) + values * real(m.hidden);
}

double hybrid_parts(const Transformer& m, std::string_view letters) {
  double sum = 0;
  for (const char kind : letters) {
    sum +=
        norm_size(m, m.hidden) + (kind == 'M'   ? mixer(m)
                                  : kind == 'G' ? delta_net(m)
                                  : kind == '*' ? (m.mla ? latent_attention(m) : plain_attention(m))
                                  : kind == 'E' ? expert_layer(m)
                                                : mlp_size(m, m.ffn) + mlp_biases(m));
  }
  return sum;
}

}  // namespace

std::int64_t qk_norm_size(const Transformer& m) {
  if (!m.qk_norm) return 0;
  return m.wide_qk_norm ? (m.heads + m.kv_heads) * m.head_dim : 2 * m.head_dim;
}

double parameter_count(const Transformer& m) {
  if (m.diffusion) return diffusion_parameters(m);
  if (m.hybrid)
    return hybrid_parts(m, m.hybrid->pattern) + norm_size(m, m.hidden) + ends(m) +
           real(m.mtp_layers) * (hybrid_parts(m, m.hybrid->mtp_pattern) + mtp_joint(m));
  const double attention = m.mla ? latent_attention(m) : plain_attention(m);
  const double dense_layer = mlp_size(m, m.ffn) + mlp_biases(m);
  const double decoder = real(m.layers);
  const double encoder = real(m.encoder_layers);
  const double attentions = encoder > 0 ? encoder + 2 * decoder : decoder;
  const double sparse = m.experts ? real(m.layers - m.experts->dense_layers) : 0;
  const double mlps =
      (encoder + decoder - sparse) * dense_layer + (sparse > 0 ? sparse * expert_layer(m) : 0);
  // Before each attention and each MLP (or behind each, or both), and one more of each stack.
  const double parts = attentions + encoder + decoder;
  const double norms = (m.sandwich_norm ? 2 : 1) * parts + (encoder > 0 ? 2 : 1);
  return attentions * attention + mlps + norms * norm_size(m, m.hidden) + ends(m) +
         real(m.mtp_layers) * mtp_layer(m, attention);
}

double active_parameter_count(const Transformer& m) {
  if (!m.experts) return parameter_count(m);
  const Experts& e = *m.experts;
  const std::int64_t sparse =
      m.hybrid ? std::ranges::count(m.hybrid->pattern, 'E') +
                     m.mtp_layers * std::ranges::count(m.hybrid->mtp_pattern, 'E')
               : m.layers - e.dense_layers + m.mtp_layers;
  return parameter_count(m) - real(sparse * (e.count - e.top_k)) * expert_size(m);
}

double parameter_count(const Mlp& m) {
  return static_cast<double>(m.layers * (m.width * m.width + (m.bias ? m.width : 0)));
}

double parameter_count(const Model& model) {
  return std::visit([](const auto& shape) { return parameter_count(shape); }, model.shape);
}

}  // namespace stepsim
