// The sentences about losses that do not have the logits of all tokens at once.
#include <string>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

constexpr const char* kOthers = "state torch, megatron or transformer_engine";

/// What a loss that takes the head's product in, or goes through it in chunks, cannot have beside
/// it. `key`: of training, which is left out if it is.
void check_without_logits(const Scenario& s, const KeyReports& keys, const std::string& key,
                          const std::string& what, const std::string& instead) {
  const std::string at = "training." + key;
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t == nullptr) {
    return keys.report({at, "leave it out"}, "{} is for decoders of text, but '{}' is {}", what,
                       s.model.name, title_without_tokens(s.model));
  }
  if (t->masked || !t->has_words() || t->encoder_layers > 0) {
    keys.report({at, instead}, "{} is for decoders of text, but '{}' {}", what, s.model.name,
                t->encoder_layers > 0 ? "has encoder_layers" : "is none");
  }
  if (s.parallelism.tensor > 1 && keys.sound({"parallelism.tensor"})) {
    keys.report({at, instead == kOthers ? "state megatron or transformer_engine" : instead},
                "{} computes all logits of a token on one rank, but tensor {} splits the "
                "vocabulary",
                what, s.parallelism.tensor);
  }
  if (s.training.loss_metrics > 0) {
    keys.report({"training.loss_metrics", "leave it out"},
                "loss_metrics read the logits, which {} does not keep", what);
  }
}

/// Keys about logits of words, which the model may not have. A loss of classes is PyTorch's.
void check_without_words(const Scenario& s, const KeyReports& keys) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && t->has_words()) return;
  const Training& training = s.training;
  const auto refuse = [&](const char* key, bool acts) {
    if (acts && keys.sound({key}))
      keys.report({key, "leave it out"}, "'{}' has no logits of words", s.model.name);
  };
  const CrossEntropy loss = training.cross_entropy;
  const bool classifies = t != nullptr && t->vision && loss == CrossEntropy::torch;
  refuse("training.cross_entropy",
         loss != Training{}.cross_entropy && !classifies && !takes_product_in(loss));
  refuse("training.loss_metrics", training.loss_metrics > 0 && !takes_product_in(loss));
  refuse("training.vocabulary_multiple",
         training.vocabulary_multiple != default_vocabulary_multiple(s.framework));
}

void check_chunks(const Scenario& s, const KeyReports& keys) {
  const std::int64_t chunks = s.training.loss_chunks;
  const CrossEntropy loss = s.training.cross_entropy;
  if (takes_product_in(loss)) {
    return keys.report({"training.loss_chunks", "leave it out"},
                       "cross_entropy {} has no logits to cut into chunks", name_of(loss));
  }
  check_without_logits(s, keys, "loss_chunks", fmt::format("loss_chunks {}", chunks),
                       "leave it out");
  const std::int64_t tokens =
      s.training.micro_batch * s.sequence_length() / s.parallelism.context.degree;
  if (keys.sound({"training.sequence_length", "training.micro_batch", "parallelism.context"}) &&
      tokens % chunks != 0) {
    keys.report({"training.loss_chunks"}, "{} chunks do not divide the {} tokens of a pass", chunks,
                tokens);
  }
}

}  // namespace

void check_loss(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"model", "training.cross_entropy", "training.loss_chunks"})) return;
  check_without_words(s, keys);
  if (takes_product_in(s.training.cross_entropy)) {
    check_without_logits(s, keys, "cross_entropy",
                         fmt::format("cross_entropy {}", name_of(s.training.cross_entropy)),
                         kOthers);
  }
  if (s.training.loss_chunks > 1) check_chunks(s, keys);
}

}  // namespace stepsim
