// The sentences about transformers.
#include <algorithm>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/describe/default_attention.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

// --- dimensions

void check_heads(const Transformer& t, const KeyReports& keys) {
  if (t.kv_heads > t.heads || t.heads % t.kv_heads != 0) {
    keys.report({"model.kv_heads"}, "kv_heads {} does not divide heads {}", t.kv_heads, t.heads);
  }
  if (!t.mla && !keys.stated("model.head_dim") && t.hidden % t.heads != 0) {
    keys.report({"model.heads", "state head_dim if that is meant"},
                "heads {} do not divide hidden {}", t.heads, t.hidden);
  }
}

/// The experts' ranks divide those of a stage, and are dealt to context and data ranks alone where
/// each expert is split as other layers are.
void check_mesh(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  const int degree = p.expert.degree;
  if (p.expert.tensor && *p.expert.tensor != p.tensor) {
    const int all = p.tensor * s.replicas();
    if (all % (*p.expert.tensor * degree) == 0) return;
    keys.report(
        {"parallelism.expert.tensor"},
        "expert tensor {} x degree {} = {} does not divide tensor {} x context {} x data {} "
        "= {}",
        *p.expert.tensor, degree, *p.expert.tensor * degree, p.tensor, p.context.degree,
        s.data_parallel(), all);
  } else if (s.replicas() % degree != 0) {
    keys.report({"parallelism.expert.degree",
                 p.tensor > 1 && p.tensor * s.replicas() % degree == 0
                     ? "with expert.tensor: 1 tensor ranks have experts of their own"
                     : ""},
                "expert degree {} does not divide context {} x data {} = {}", degree,
                p.context.degree, s.data_parallel(), s.replicas());
  }
}

void check_expert_shape(const Transformer& t, const KeyReports& keys) {
  const Experts& e = *t.experts;
  if (e.top_k > e.count) {
    keys.report({"model.experts.top_k"}, "top_k {} is more than the {} experts", e.top_k, e.count);
  }
  if (e.count % e.groups != 0 || e.top_groups > e.groups) {
    keys.report(
        {"model.experts.groups"},
        "{} experts have {} groups, of which {} are chosen: equal groups are wanted, and no "
        "more of them than there are",
        e.count, e.groups, e.top_groups);
  } else if (e.top_k <= e.count && e.count / e.groups * e.top_groups < e.top_k) {
    keys.report({"model.experts.top_groups"},
                "top_groups {} have {} of {} experts, but a token goes to {}", e.top_groups,
                e.count / e.groups * e.top_groups, e.count, e.top_k);
  }
  if (e.shared_gate && e.shared_ffn == 0) {
    keys.report({"model.experts.shared_gate", "state shared_ffn"},
                "a gate of shared experts, but shared_ffn is 0: there are none");
  }
  if (e.clamp > 0 && !t.gated_mlp) {
    keys.report({"model.experts.clamp", "state gated_mlp: true"},
                "clamps of both halves, but the MLP is not gated: there are none");
  }
  if (e.dense_layers >= t.layers) {
    keys.report({"model.experts.dense_layers",
                 "state fewer dense_layers, or \"experts: ~\" for a dense model"},
                "dense_layers {} leave none of {} layers for experts", e.dense_layers, t.layers);
  }
}

void check_vision(const Transformer& t, const KeyReports& keys) {
  const Vision& v = *t.vision;
  if (v.image % v.patch != 0) {
    keys.report({"model.vision.patch"}, "patch {} does not divide image {}", v.patch, v.image);
  } else if (t.positions != v.tokens()) {
    keys.report({"model.positions", "leave them out"},
                "positions {}, but an image has {} tokens: {} patches and the class", t.positions,
                v.tokens(), v.patches());
  }
  check_apart(keys, "vision",
              {{"vocabulary", t.vocabulary > 0},
               {"token_types", t.token_types > 0},
               {"masked", t.masked.has_value()},
               {"encoder_layers", t.encoder_layers > 0}},
              "images have no words");
}

// --- the split

void check_tensor(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const int tensor = s.parallelism.tensor;
  const auto divides = [&](const char* key, std::int64_t value) {
    if (value % tensor == 0) return;
    keys.report({"parallelism.tensor"}, "tensor {} does not divide {} {}", tensor, key, value);
  };
  divides("heads", t.heads);
  divides("hidden", t.hidden);
  const CrossEntropy loss = s.training.cross_entropy;
  const bool whole = needs_whole_tokens(loss);
  if (tensor > 1 && whole && !s.parallelism.dtensor) {
    keys.report(
        {"training.cross_entropy",
         "state megatron or transformer_engine, or parallelism.dtensor, which gathers them"},
        "cross_entropy {} needs all logits of a token, but tensor {} splits them", name_of(loss),
        tensor);
  }
  if (!t.experts || t.experts->dense_layers > 0) divides("ffn", t.ffn);
  // Fewer key and value heads than ranks are replicated.
  if (!t.mla && t.kv_heads % tensor != 0 && tensor % t.kv_heads != 0) {
    keys.report({"parallelism.tensor"}, "tensor {} and kv_heads {} do not divide each other",
                tensor, t.kv_heads);
  }
}

void check_fused_qkv(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  if (s.training.fused_qkv) return;
  if (t.mla) {
    keys.report({"training.fused_qkv", "leave it out"},
                "fused_qkv is about queries, keys and values of one input, "
                "but the model has latent attention (mla)");
  }
  if (s.parallelism.tensor > 1 && t.encoder_layers > 0) {
    keys.report({"training.fused_qkv", "leave it out, or state tensor 1"},
                "fused_qkv false: what layers of the encoder's output gather for each other is "
                "not modelled, but tensor is {}",
                s.parallelism.tensor);
  }
}

void check_context(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  const std::int64_t n = p.context.degree;
  const std::int64_t length = s.sequence_length();
  const std::int64_t parts = p.sequence ? n * p.tensor : n;
  if (t.encoder_layers > 0 || t.relative_positions > 0) {
    return keys.report({"parallelism.context.degree", "use tensor or data parallelism"},
                       "context {} of a model with {} is not modelled", n,
                       t.encoder_layers > 0 ? "encoder_layers" : "relative_positions");
  }
  if (p.context.kind == ContextKind::all_to_all) {
    const std::int64_t heads = t.heads / p.tensor;
    const std::int64_t kv_heads = t.mla ? heads : std::max<std::int64_t>(t.kv_heads / p.tensor, 1);
    // Fewer key and value heads than ranks are repeated.
    if (heads % n != 0 || (kv_heads % n != 0 && n % kv_heads != 0)) {
      // Rings are refused beside windows.
      keys.report(
          {"parallelism.context.degree",
           t.window ? fmt::format("use a degree that divides {}", heads) : "use kind: ring"},
          "context {} does not divide the {} heads of a tensor rank, or it and its {} "
          "key-value heads do not divide each other, as kind all_to_all needs",
          n, heads, kv_heads);
    }
  }
  if (length % (2 * parts) != 0) {
    keys.report({"parallelism.context.degree"}, "{} does not split into 2 x {} equal parts",
                t.vision ? fmt::format("an image of {} tokens", length)
                         : fmt::format("sequence_length {}", length),
                parts);
  }
  if (keys.sound({"training.attention", "cluster"}) && !is_fused_attention(s.training.attention)) {
    keys.report({"training.attention", "state a kernel of the GPU's profile"},
                "context parallelism needs a fused attention kernel");
  }
}

void check_sequence_parallel(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!p.sequence || !keys.sound({"parallelism.tensor", "parallelism.sequence"})) return;
  if (p.tensor == 1) {
    return keys.report({"parallelism.sequence"},
                       "sequence parallel needs tensor parallel, but tensor is 1");
  }
  const auto divides = [&](const char* what, std::int64_t length) {
    if (length % p.tensor == 0) return;
    keys.report({"parallelism.sequence"},
                "tensor {} does not divide {} {}, as sequence parallel needs", p.tensor, what,
                length);
  };
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  divides(t->vision ? "an image's tokens," : "sequence_length", s.sequence_length());
  if (s.target_length() != s.sequence_length())
    divides("decoder_sequence_length", s.target_length());
}

/// Ranks that hold the same parameters divide the experts among them; whether their number is whole
/// is checked elsewhere.
void check_experts(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  const Experts& e = *t.experts;
  if (keys.sound({"parallelism.tensor", "parallelism.sequence"}) && p.tensor > 1) {
    if (!p.sequence) {
      keys.report({"parallelism.tensor", "add \"sequence: true\""},
                  "experts with tensor parallelism need sequence parallelism: each rank routes its "
                  "own tokens");
    }
    if (e.shared_ffn % p.tensor != 0) {
      keys.report({"parallelism.tensor"}, "tensor {} does not divide the shared experts' width, {}",
                  p.tensor, e.shared_ffn);
    }
  }
  const int shares = p.expert.tensor.value_or(p.tensor);
  const char* shared_by = p.expert.tensor ? "parallelism.expert.tensor" : "parallelism.tensor";
  if (keys.sound({shared_by}) && e.ffn % shares != 0) {
    keys.report({shared_by}, "tensor {} does not divide the experts' width, {}", shares, e.ffn);
  }
  const int degree = p.expert.degree;
  if (keys.sound({"parallelism.expert.degree"}) && e.count % degree != 0) {
    keys.report({"parallelism.expert.degree"}, "expert degree {} does not divide {} experts",
                degree, e.count);
  }
  if (keys.sound({"parallelism.expert.degree", "parallelism.expert.tensor"}) && splits(s, keys))
    check_mesh(s, keys);
  const double all = static_cast<double>(e.count) / static_cast<double>(e.top_k);
  if (keys.sound({"parallelism.expert.capacity"}) && p.expert.capacity.value_or(0) > all) {
    keys.report({"parallelism.expert.capacity"},
                "capacity {}, but an expert gets at most {} times its share: all tokens",
                *p.expert.capacity, all);
  }
  if (p.expert.load_variation && (p.expert.capacity || p.expert.imbalance > 1)) {
    keys.report({"parallelism.expert.load_variation", "state one of the two"},
                "load_variation says how unevenly tokens are routed, and so does {}",
                p.expert.capacity ? "capacity: evenly, with padding" : "imbalance");
  } else if (keys.sound({"parallelism.expert.capacity", "parallelism.expert.imbalance"}) &&
             p.expert.capacity && p.expert.imbalance > 1) {
    keys.report({"parallelism.expert.imbalance", "state one of the two"},
                "with a capacity all experts get the same number of tokens, but "
                "imbalance is {}",
                p.expert.imbalance);
  } else if (keys.sound({"parallelism.expert.degree", "parallelism.expert.imbalance"}) &&
             p.expert.imbalance > degree) {
    keys.report({"parallelism.expert.imbalance"},
                "imbalance {}, but with expert degree {} the busiest rank gets at most "
                "{} times the average: all tokens",
                p.expert.imbalance, degree, degree);
  }
  if (!splits(s, keys) ||
      !keys.sound({"parallelism.order", "parallelism.expert.degree", "parallelism.expert.tensor",
                   "parallelism.expert.dispatcher", "parallelism.expert.fp8_dispatch",
                   "parallelism.expert.sms", "parallelism.expert.delay_wgrad",
                   "parallelism.expert.overlap_shared", "parallelism.expert.grouped_kernel",
                   "parallelism.expert.router_padding", "parallelism.expert.capacity",
                   "training.precision", "training.transformer_impl", "training.recompute"}))
    return;
  check_dispatch(s, keys);
}

// --- training

/// Whether there is a sequence to check further.
bool check_lengths(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const Training& training = s.training;
  if (training.decoder_sequence_length > 0 && t.encoder_layers == 0) {
    keys.report({"training.decoder_sequence_length", "state sequence_length alone"},
                "the model has no encoder_layers, hence one sequence a sample");
  }
  if (t.vision) {
    if (training.sequence_length > 0) {
      keys.report({"training.sequence_length", "leave it out"},
                  "sequence_length {}, but the model makes {} tokens of an image",
                  training.sequence_length, t.vision->tokens());
    }
    return true;
  }
  if (training.sequence_length == 0) {
    keys.report({keys.stated("training.sequence_length") ? "training.sequence_length" : "training",
                 "add \"sequence_length: <integer>\""},
                "a transformer needs training.sequence_length");
    return false;
  }
  const auto fits = [&](const char* key, std::int64_t length) {
    if (t.positions == 0 || length <= t.positions) return;
    keys.report({std::string("training.") + key}, "{} {} is longer than the model's {} positions",
                key, length, t.positions);
  };
  fits("sequence_length", training.sequence_length);
  fits("decoder_sequence_length", training.decoder_sequence_length);
  return true;
}

void check_pipeline(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const int stages = s.parallelism.pipeline.stages;
  if (stages == 1 || !keys.sound({"parallelism.pipeline.stages"})) return;
  if (t.encoder_layers == 0) {
    if (t.relative_positions == 0) return;
    return keys.report({"parallelism.pipeline.stages", "use tensor and data parallelism"},
                       "{} pipeline stages of a model with relative_positions are not "
                       "modelled: every stage would need the bias",
                       stages);
  }
  keys.report({"parallelism.pipeline.stages", "use tensor and data parallelism"},
              "{} pipeline stages of {} encoder and {} decoder layers are not modelled: "
              "every decoder stage would need the encoder's output",
              stages, t.encoder_layers, t.layers);
}

/// Windows over context ranks, and chunks of a sequence.
void check_window(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  if (!t.window || !keys.sound({"model.window", "training.sequence_length"})) return;
  const AttentionWindow& window = *t.window;
  const std::int64_t sequence = s.sequence_length();
  if (window.tokens >= sequence) return;
  const ContextParallel& context = s.parallelism.context;
  if (context.degree > 1 && context.kind != ContextKind::all_to_all)
    keys.report({"parallelism.context.kind",
                 fmt::format("use all_to_all, of a degree that divides the {} heads of a tensor "
                             "rank",
                             t.heads / s.parallelism.tensor)},
                "context {} of a sequence whose layers attend to {} tokens is not modelled",
                name_of(context.kind), window.tokens);
  if (window.kind == WindowKind::chunk && sequence % window.tokens != 0)
    keys.report({"model.window.tokens"}, "chunks of {} tokens do not divide sequence_length {}",
                window.tokens, sequence);
}

void check_scores(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const std::string& kernel = s.training.attention;
  if (can_compute_attention(kernel, t) || !keys.sound({"training.attention"})) return;
  if (t.relative_positions > 0) {
    keys.report({"training.attention", "use unfused or cudnn"},
                "{} takes no bias on the scores, but the model has {} relative_positions", kernel,
                t.relative_positions);
  } else if (t.sinks && kernel.starts_with("flash")) {
    keys.report({"training.attention", "use unfused, eager or cudnn"},
                "{} has no gradients of sinks, which the model's attention has", kernel);
  } else {
    keys.report({"training.attention",
                 t.sinks ? "use unfused or eager" : "use unfused, eager, flash2 or flash3"},
                "{} caps no scores, but the model has score_cap", kernel);
  }
}

/// What stands beside attention, and what is between the layers, with what else the model has.
void check_beside(const Transformer& t, const KeyReports& keys) {
  const std::pair<const char*, bool> latent{"mla", t.mla.has_value()};
  const std::pair<const char*, bool> encoder{"encoder_layers", t.encoder_layers > 0};
  constexpr const char* kNot = "not modelled";
  if (t.attention_gate) check_apart(keys, "attention_gate", {latent, encoder}, kNot);
  if (t.sinks) check_apart(keys, "sinks", {latent, encoder}, kNot);
  if (t.has_yarn() && t.mla)
    keys.report({"model.yarn_factor", "leave it out"},
                "yarn_factor {}: latent attention's rotary part costs as much with YaRN as without",
                t.yarn_factor);
  else if (t.has_yarn() && !t.rotary())
    keys.report({"model.yarn_factor", "leave it out"},
                "yarn_factor {} stretches rotary positions, which the model has none of",
                t.yarn_factor);
  if (t.logit_cap)
    check_apart(keys, "logit_cap", {{"vision", t.vision.has_value()}}, "images have no words");
  if (t.sandwich_norm) {
    check_apart(keys, "sandwich_norm",
                {{"post_norm", t.post_norm},
                 {"hybrid", t.hybrid.has_value()},
                 {"mtp_layers", t.mtp_layers > 0},
                 encoder},
                kNot);
  }
}

}  // namespace

void check_apart(const KeyReports& keys, const std::string& part,
                 std::initializer_list<std::pair<const char*, bool>> parts, const char* reason) {
  for (const auto& [key, present] : parts) {
    if (present) keys.report({std::string("model.") + key}, "{} beside {}: {}", key, part, reason);
  }
}

void check_transformer(const Transformer& t, const KeyReports& keys) {
  check_heads(t, keys);
  if (t.experts) check_expert_shape(t, keys);
  if (t.vision) check_vision(t, keys);
  if (t.tower) check_tower(t, keys);
  if (t.diffusion) check_diffusion(t, keys);
  if (t.encoder_layers > 0) {
    check_apart(keys, "encoder_layers",
                {{"masked", t.masked.has_value()},
                 {"experts", t.experts.has_value()},
                 {"mla", t.mla.has_value()}},
                "not modelled");
  }
  if (t.hybrid) check_hybrid(t, keys);
  check_beside(t, keys);
  if (t.window) {
    check_apart(keys, "window",
                {{"mla", t.mla.has_value()}, {"encoder_layers", t.encoder_layers > 0}},
                "not modelled");
  }
  if (t.mtp_layers > 0) {
    check_apart(keys, "mtp_layers",
                {{"encoder_layers", t.encoder_layers > 0},
                 {"vision", t.vision.has_value()},
                 {"masked", t.masked.has_value()},
                 {"post_norm", t.post_norm}},
                "not modelled");
  }
  if (t.relative_positions > 0) {
    check_apart(keys, "relative_positions",
                {{"positions", t.positions > 0}, {"mla", t.mla.has_value()}}, "not modelled");
  }
  if (t.alibi) {
    check_apart(keys, "alibi",
                {{"positions", t.positions > 0},
                 {"relative_positions", t.relative_positions > 0},
                 {"mla", t.mla.has_value()}},
                "it stands in their place");
  }
  if (t.wide_qk_norm && !t.qk_norm) {
    keys.report({"model.wide_qk_norm", "add \"qk_norm: true\""},
                "wide_qk_norm says what qk_norm is over, but there is none");
  }
  if (t.mla) {
    check_apart(keys, "mla", {{"qkv_bias", t.qkv_bias}, {"qk_norm", t.qk_norm}},
                "its queries, keys and values have narrow layers with norms of their own");
  }
}

void check_transformer_training(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (keys.sound({"parallelism.tensor"})) check_tensor(s, t, keys);
  if (keys.sound({"parallelism.tensor"})) check_fused_qkv(s, t, keys);
  if (t.experts) check_experts(s, t, keys);
  check_pipeline(s, t, keys);
  check_scores(s, t, keys);
  check_window(s, t, keys);
  if (t.hybrid && keys.sound({"model.hybrid"})) check_hybrid_training(s, t, keys);
  if (t.diffusion && keys.sound({"model.diffusion"})) check_diffusion_training(s, t, keys);
  if (!keys.sound({"training.sequence_length", "training.decoder_sequence_length"}) ||
      !check_lengths(s, t, keys))
    return;
  if (s.training.packing) check_packing(s, t, keys);
  if (p.context.degree > 1 && keys.sound({"parallelism.context", "parallelism.tensor"}))
    check_context(s, t, keys);
  check_sequence_parallel(s, keys);
}

}  // namespace stepsim
