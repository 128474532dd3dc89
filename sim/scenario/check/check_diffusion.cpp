// The sentences about diffusion transformers.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

void check_text(const Transformer& t, const DiffusionText& text, const KeyReports& keys) {
  if (text.single_layers > t.layers) {
    keys.report({"model.diffusion.text.single_layers"}, "single_layers {} of {} layers",
                text.single_layers, t.layers);
  }
  if (text.single_layers == 0) return;
  if (text.kind != TextKind::joint) {
    keys.report({"model.diffusion.text.single_layers", "leave it out"},
                "single_layers are of one stream of text and latents, but kind is {}",
                name_of(text.kind));
  }
  if (t.gated_mlp) {
    keys.report({"model.gated_mlp"},
                "gated MLPs beside attention (single_layers) are not modelled");
  }
}

}  // namespace

void check_diffusion(const Transformer& t, const KeyReports& keys) {
  check_apart(keys, "diffusion",
              {{"vocabulary", t.vocabulary > 0},
               {"positions", t.positions > 0},
               {"token_types", t.token_types > 0},
               {"masked", t.masked.has_value()},
               {"vision", t.vision.has_value()},
               {"logit_cap", t.logit_cap}},
              "latents are no words");
  check_apart(keys, "diffusion",
              {{"encoder_layers", t.encoder_layers > 0},
               {"mtp_layers", t.mtp_layers > 0},
               {"experts", t.experts.has_value()},
               {"mla", t.mla.has_value()},
               {"hybrid", t.hybrid.has_value()},
               {"window", t.window.has_value()},
               {"relative_positions", t.relative_positions > 0},
               {"alibi", t.alibi},
               {"post_norm", t.post_norm},
               {"sandwich_norm", t.sandwich_norm},
               {"attention_gate", t.attention_gate},
               {"sinks", t.sinks},
               {"score_cap", t.score_cap}},
              "not modelled");
  if (t.causal) keys.report({"model.causal", "leave it out"}, "patches have no order to mask");
  if (t.diffusion->text) check_text(t, *t.diffusion->text, keys);
}

void check_diffusion_training(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  const Diffusion& d = *t.diffusion;
  if (d.text && p.pipeline.stages > 1 && keys.sound({"parallelism.pipeline.stages"})) {
    keys.report({"parallelism.pipeline.stages", "use tensor, context and data parallelism"},
                "{} pipeline stages of a model that is conditioned on text are not modelled: every "
                "stage would need it",
                p.pipeline.stages);
  }
  if (d.joint() && p.context.degree > 1 && keys.sound({"parallelism.context.degree"})) {
    keys.report({"parallelism.context.degree", "use tensor and data parallelism"},
                "context {} of two streams with one attention (text.kind joint) is not modelled",
                p.context.degree);
  }
  if (d.joint() && p.sequence && keys.sound({"parallelism.sequence", "parallelism.tensor"}) &&
      d.text->tokens % p.tensor != 0) {
    keys.report({"parallelism.sequence"},
                "tensor {} does not divide {} tokens of text, as sequence parallel needs", p.tensor,
                d.text->tokens);
  }
  const Recomputation& recompute = s.training.recompute;
  const auto is_core = [](RecomputeModule module) {
    return module == RecomputeModule::core_attention;
  };
  if (recompute.kind == Recompute::selective && keys.sound({"training.recompute"}) &&
      !std::ranges::all_of(recompute.modules, is_core)) {
    keys.report({"training.recompute.modules", "use core_attention or \"recompute: full\""},
                "of a diffusion transformer only core_attention is recomputed by itself");
  }
}

}  // namespace stepsim
