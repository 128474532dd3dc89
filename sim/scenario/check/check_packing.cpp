// The sentences about sequences that are packed of documents.
#include <algorithm>

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

void check_documents(const SequencePacking& p, std::int64_t sequence, const KeyReports& keys) {
  if (p.spread.mean == 0 && p.spread.values.empty()) {
    return keys.report({"training.packing", "state \"mean: <tokens>\""},
                       "packing needs the length of documents: a mean, or values");
  }
  // Documents that are equally long have no distribution, unless one is named.
  if (p.spread.sigma > 0 || !p.spread.values.empty() ||
      p.distribution != SequencePacking{}.distribution)
    check_distribution("training.packing", p.distribution, p.spread, keys);
  const bool scales = p.spread.mean > 0;
  const double shortest = scales ? p.spread.mean : std::ranges::min(p.spread.values);
  if (shortest < 1) {
    keys.report({scales ? "training.packing.mean" : "training.packing.values"},
                "a document has at least one token, not {:g}", shortest);
  }
  if (p.spread.mean > static_cast<double>(sequence)) {
    keys.report({"training.packing.mean", "state what is left of documents that are cut"},
                "documents of {:g} tokens on average do not fit into sequence_length {}",
                p.spread.mean, sequence);
  }
}

}  // namespace

void check_packing(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  if (!keys.sound({"training.packing", "model"})) return;
  if (t.vision || t.diffusion || t.encoder_layers > 0) {
    return keys.report({"training.packing", "leave it out"}, "packing beside {} is not modelled",
                       t.vision      ? "vision"
                       : t.diffusion ? "diffusion"
                                     : "encoder_layers");
  }
  check_documents(*s.training.packing, s.sequence_length(), keys);
  if (keys.sound({"training.attention", "cluster"}) && !is_fused_attention(s.training.attention)) {
    keys.report({"training.attention", "state a kernel of the GPU's profile"},
                "attention {} multiplies all tokens of a sequence, whatever the mask of its "
                "documents is",
                s.training.attention);
  }
  if (t.window && t.window->kind == WindowKind::chunk && t.window->tokens < s.sequence_length()) {
    keys.report({"training.packing", "leave it out"},
                "packing beside chunks of attention is not modelled");
  }
}

}  // namespace stepsim
