// The sentences about losses that take the product of the head in.
#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {

void check_fused_loss(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const CrossEntropy loss = s.training.cross_entropy;
  if (!takes_product_in(loss)) return;
  if (s.parallelism.tensor > 1) {
    keys.report({"training.cross_entropy", "state megatron or transformer_engine"},
                "cross_entropy {} computes all logits of a token on one rank, but tensor {} splits "
                "the vocabulary",
                name_of(loss), s.parallelism.tensor);
  }
  if (t.masked || t.vision) {
    keys.report({"training.cross_entropy", "state torch"},
                "cross_entropy {} is for decoders of text, but '{}' is an encoder", name_of(loss),
                s.model.name);
  }
  if (s.training.loss_metrics > 0) {
    keys.report({"training.loss_metrics", "leave it out"},
                "loss_metrics read the logits, which cross_entropy {} does not keep",
                name_of(loss));
  }
}

}  // namespace stepsim
