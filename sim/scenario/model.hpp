// What is trained: the dimensions of a model, as one file of models/ gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/scenario/gpu.hpp"
#include "sim/scenario/model/attention_window.hpp"
#include "sim/scenario/model/diffusion.hpp"
#include "sim/scenario/model/vision_tower.hpp"

namespace stepsim {

/// Mixture of experts: each token goes through the `top_k` of `count` MLPs that a router picks, and
/// through a shared MLP where there is one.
struct Experts {
  std::int64_t count = 0;
  std::int64_t top_k = 0;
  std::int64_t ffn = 0;           ///< inner width of one expert
  std::int64_t shared_ffn = 0;    ///< inner width of the shared experts together; 0: none
  std::int64_t dense_layers = 0;  ///< leading layers that keep the dense MLP
  std::int64_t groups = 1;        ///< equal groups of experts
  std::int64_t top_groups = 1;    ///< groups that a token's experts are chosen from
  bool bias = false;         ///< biases of the experts' linear layers and of the router (GPT-OSS)
  bool shared_gate = false;  ///< one number a token weighs what the shared experts hand on
  /// What both halves of a gated activation are clamped to, before one is shifted (GPT-OSS); 0: none
  double clamp = 0;
  bool operator==(const Experts&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries, and keys with values, go
/// through a narrow layer; each head has a part without positions and shares a rotary one.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< width of the queries' narrow layer; 0: none
  std::int64_t kv_rank = 0;     ///< width of the narrow layer of keys and values
  std::int64_t nope_dim = 0;    ///< width of a head's queries and keys without positions
  std::int64_t rope_dim = 0;    ///< width of the rotary part
  std::int64_t value_dim = 0;
  std::int64_t key_dim() const { return nope_dim + rope_dim; }
  bool operator==(const LatentAttention&) const = default;
};

/// A gated delta net (Yang et al. 2024, arXiv 2412.06464): linear attention whose states forget,
/// and correct what they hold. Heads of values share those of keys, as many as divide them. One
/// whose decays are of each channel of the keys is Kimi delta attention (Kimi Team 2025, arXiv
/// 2510.26692): narrow layers make its decays, and the gates of its output.
struct GatedDeltaNet {
  std::int64_t key_heads = 0;    ///< of queries and keys
  std::int64_t value_heads = 0;  ///< each has a state of key_dim x value_dim
  std::int64_t key_dim = 128;
  std::int64_t value_dim = 128;
  std::int64_t convolution = 4;  ///< taps
  std::int64_t gate_rank = 0;    ///< width of the narrow layers; 0: each head has one decay
  std::int64_t key_width() const { return key_heads * key_dim; }
  std::int64_t value_width() const { return value_heads * value_dim; }
  bool operator==(const GatedDeltaNet&) const = default;
};

/// Layers of parts in turns (Nemotron-H, arXiv 2504.03624): a mixer of Mamba-2 (Dao and Gu 2024,
/// arXiv 2405.21060) or a gated delta net, attention, an MLP or experts, each behind a norm and
/// beside a residual.
struct HybridLayers {
  std::string pattern;     ///< a letter a part: M mixer, G delta net, * attention, - MLP, E experts
  std::int64_t parts = 1;  ///< of a layer: so many letters after one another
  /// the parts of a depth of multi-token prediction; "": there is none
  std::string mtp_pattern;
  bool rotary = false;  ///< attention has rotary positions; otherwise it has none
  std::optional<GatedDeltaNet> delta_net;
  std::int64_t heads = 0;        ///< of mixers
  std::int64_t head_dim = 64;    ///< width of a mixer's head
  std::int64_t groups = 8;       ///< of heads that share what is written to states and read
  std::int64_t state = 128;      ///< numbers of a state for each of a head's
  std::int64_t convolution = 4;  ///< taps
  std::int64_t chunk = 128;      ///< tokens
  bool has(char kind) const { return (pattern + mtp_pattern).find(kind) != std::string::npos; }
  std::int64_t layers() const { return static_cast<std::int64_t>(pattern.size()) / parts; }
  bool operator==(const HybridLayers&) const = default;
};

/// A vision transformer's input and output (Dosovitskiy et al. 2020, arXiv 2010.11929): square
/// images cut into square patches, one token each, behind a class token that is classified.
struct Vision {
  std::int64_t image = 224;  ///< pixels of an edge
  std::int64_t patch = 16;   ///< pixels of a patch's edge
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  std::int64_t patches() const { return (image / patch) * (image / patch); }
  std::int64_t tokens() const { return patches() + 1; }
  std::int64_t patch_values() const { return patch * patch * channels; }
  bool operator==(const Vision&) const = default;
};

/// What BERT is trained on (Devlin et al. 2018, arXiv 1810.04805): the words behind masked tokens,
/// and whether one sentence follows the other.
struct MaskedHead {
  double predicted = 1;       ///< share of the tokens whose logits are computed
  bool next_sentence = true;  ///< a pooler over the first token, and two classes
  bool operator==(const MaskedHead&) const = default;
};

/// A transformer: a decoder (GPT, Llama; with a tower for images, Qwen2.5-VL), an encoder (BERT,
/// ViT), both (T5), or one of latents (DiT); dense or with experts.
struct Transformer {
  std::int64_t layers = 0;
  std::int64_t encoder_layers = 0;  ///< layers whose output every layer attends to; 0: none
  std::int64_t mtp_layers = 0;      ///< depths of multi-token prediction behind the layers; 0: none
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< grouped-query attention when fewer than heads; default: heads
  std::int64_t head_dim = 0;  ///< default: hidden / heads
  std::int64_t ffn = 0;       ///< inner width of the MLP; default: 4 * hidden
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  ///< rows of a learned position table; 0: none (rotary)
  /// buckets of a learned bias on attention scores, by distance (T5), instead of positions; 0: none
  std::int64_t relative_positions = 0;
  bool alibi = false;  ///< a constant bias on attention scores, by distance, instead of positions
  std::int64_t token_types = 0;  ///< rows of a table of sentences (BERT); 0: none
  bool causal = true;            ///< tokens attend to those before them only (an encoder's: to all)
  bool post_norm = false;        ///< norms behind the residual sums and the embedding, not before
  bool sandwich_norm = false;    ///< norms behind attention and MLP, too, inside their residuals
  bool gated_mlp = false;        ///< SwiGLU: three matrices instead of two
  bool rms_norm = false;         ///< RMSNorm (no bias) instead of LayerNorm
  bool bias = true;              ///< biases in the linear layers
  bool qkv_bias = false;  ///< biases of queries, keys and values where the other layers have none
  bool qk_norm = false;   ///< a norm over each head of queries and keys
  bool wide_qk_norm = false;    ///< with qk_norm: over all heads together
  bool attention_gate = false;  ///< sigmoids, as many as queries, weigh what attention hands on
  bool sinks = false;           ///< a learned score a head that takes its share of the softmax
  double yarn_factor = 1;       ///< by which YaRN stretches rotary positions
  bool score_cap = false;       ///< the tanh of scores before the softmax (Gemma 2)
  bool logit_cap = false;       ///< the tanh of logits before the loss
  bool tied_embeddings = true;  ///< the output head shares the embedding's weights
  bool dropout = true;          ///< attention and hidden dropout
  std::optional<HybridLayers> hybrid;     ///< absent: each layer has attention and an MLP
  std::optional<AttentionWindow> window;  ///< absent: all layers attend to the whole sequence
  std::optional<Experts> experts;
  std::optional<LatentAttention> mla;  ///< replaces heads of queries, keys and values
  std::optional<VisionTower> tower;    ///< images among the words
  std::optional<Vision> vision;        ///< replaces the vocabulary
  std::optional<Diffusion> diffusion;  ///< replaces the vocabulary
  std::optional<MaskedHead> masked;    ///< replaces the next token's logits
  bool rotary() const {
    return positions == 0 && relative_positions == 0 && !alibi && !mla &&
           (!hybrid || hybrid->rotary) && (!diffusion || diffusion->rotary);
  }
  /// Whether positions are YaRN's (arXiv 2309.00071).
  bool has_yarn() const { return yarn_factor > 1; }
  /// Whether its input are words, and its output the next ones or those that are masked.
  bool has_words() const { return !vision && !diffusion; }
  bool operator==(const Transformer&) const = default;
};

/// A plain stack of equal linear layers with an activation, trained on feature vectors.
struct Mlp {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  bool bias = false;
  bool operator==(const Mlp&) const = default;
};

/// In which order an image's dimensions lie in memory: channels last, or channels first.
enum class Layout { nhwc, nchw };

/// A residual network of bottleneck blocks (He et al. 2015, arXiv 1512.03385, table 1),
/// variant 1.5: the 3x3 convolution of a block has the stride. Stage i has a width of 64 * 2^i.
struct ResNet {
  std::vector<std::int64_t> blocks{3, 4, 6, 3};  ///< per stage
  std::int64_t image = 224;                      ///< pixels of an edge
  std::int64_t channels = 3;                     ///< an image's as the GPU has it
  std::int64_t classes = 1000;
  std::int64_t groups = 1;        ///< parts of the 3x3 convolutions' channels (ResNeXt)
  std::int64_t group_width = 64;  ///< channels of one in the first stage; each stage doubles them
  Layout layout = Layout::nhwc;
  bool fused_norm = false;             ///< batch norm, addition and ReLU in one kernel
  bool norms_in_convolutions = false;  ///< convolutions take in the norms around them
  bool operator==(const ResNet&) const = default;
};

/// A recommendation model (Naumov et al. 2019, arXiv 1906.00091): sparse features look up rows of
/// tables, dense ones go through a bottom MLP; all are multiplied with each other, and what comes
/// out goes through a top MLP.
struct Dlrm {
  std::vector<std::int64_t> tables;  ///< rows of each embedding table
  std::int64_t dim = 128;            ///< width of a row
  double pooling = 1;                ///< rows that a sample looks up in each table and sums
  std::int64_t dense_features = 13;
  std::vector<std::int64_t> bottom{512, 256, 128};         ///< widths; the last is dim
  std::vector<std::int64_t> top{1024, 1024, 512, 256, 1};  ///< widths
  Precision table_precision = Precision::fp32;
  bool fused_interaction = false;  ///< one kernel multiplies all pairs, triangle and joins included
  bool sparse_gradients = false;   ///< tables' are tensors, which another kernel adds to rows
  bool fused_lookup = true;        ///< casts rows to the type of activations, and back
  /// What enters the top MLP: the dense vector, and the products of all pairs of vectors.
  std::int64_t interactions() const {
    const auto vectors = static_cast<std::int64_t>(tables.size()) + 1;
    return dim + vectors * (vectors - 1) / 2;
  }
  bool operator==(const Dlrm&) const = default;
};

/// What is trained.
struct Model {
  std::string name;
  std::variant<Transformer, Mlp, ResNet, Dlrm> shape;
  std::int64_t published_parameters = 0;  ///< as its authors state them; 0: see `unpublished`
  std::string unpublished;                ///< why nobody has published a count
  std::string source;                     ///< where the dimensions come from
  std::vector<std::string> notes;         ///< what the dimensions leave out
  bool operator==(const Model&) const = default;
};

}  // namespace stepsim
