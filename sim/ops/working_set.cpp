// Liveness of activations and gradients in the backward pass of a block.
#include "sim/ops/working_set.hpp"

#include <algorithm>
#include <vector>

namespace stepsim {
namespace {

using Vertex = OpDag::Vertex;

/// One walk from the block's last op to its first.
class BackwardWalk {
 public:
  BackwardWalk(const Block& block, Recompute recompute)
      : block_(block),
        dag_(block.dag),
        recompute_(block.recomputable ? recompute : Recompute::none),
        inputs_(dag_.ops.size()),
        known_(dag_.ops.size(), false) {
    std::vector<bool> hands_on(dag_.ops.size(), false);
    for (const auto& [from, to] : dag_.edges) {
      inputs_[to].push_back(from);
      hands_on[from] = true;
    }
    for (Vertex v = 0; v < inputs_.size(); ++v) {
      const Op& op = dag_.ops[v];
      (op.loss ? logits_ : saved_) += kept(op);
      if (!hands_on[v]) know(v, false);
    }
  }

  BlockPeak peak() {
    const std::vector<const Op*> order = block_.order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      const auto v = static_cast<Vertex>(*op - dag_.ops.data());
      know_inputs(v);
      note(v);
      release(v);
    }
    return most_;
  }

 private:
  Bytes kept(const Op& op) const {
    return op.saved - (recompute_ == Recompute::selective ? op.saved_scores : Bytes{0});
  }

  /// The gradient of the op's output is there.
  void know(Vertex v, bool of_logits) {
    if (known_[v]) return;
    known_[v] = true;
    (of_logits ? logit_gradients_ : gradients_) += dag_.ops[v].output;
    if (of_logits) logits_op_ = v;
  }

  void know_inputs(Vertex v) {
    for (const Vertex input : inputs_[v]) know(input, dag_.ops[v].loss);
    if (inputs_[v].empty() && !reached_input_) {
      reached_input_ = true;
      gradients_ += block_.input;
    }
  }

  void release(Vertex v) {
    const Op& op = dag_.ops[v];
    (op.loss ? logits_ : saved_) -= kept(op);
    (logits_op_ == v ? logit_gradients_ : gradients_) -= op.output;
  }

  void note(Vertex v) {
    Working now{.activations = saved_,
                .logits = logits_ + logit_gradients_,
                .gradients = gradients_ + dag_.ops[v].scratch};
    if (recompute_ == Recompute::selective) now.recomputed = dag_.ops[v].saved_scores;
    if (recompute_ == Recompute::full) {
      now.recomputed = std::max(saved_ - block_.input, Bytes{0});
      now.activations = block_.input;
    }
    if (!most_.op.empty() && now.total() <= most_.held.total()) return;
    most_ = {now, dag_.ops[v].name};
  }

  const Block& block_;
  const OpDag& dag_;
  Recompute recompute_;
  std::vector<std::vector<Vertex>> inputs_;
  std::vector<bool> known_;
  Vertex logits_op_ = static_cast<Vertex>(-1);
  bool reached_input_ = false;
  Bytes saved_, logits_, gradients_, logit_gradients_;
  BlockPeak most_;
};

}  // namespace

Working& Working::operator+=(const Working& other) {
  activations += other.activations;
  logits += other.logits;
  recomputed += other.recomputed;
  gradients += other.gradients;
  gathered += other.gathered;
  return *this;
}

Working& Working::operator-=(const Working& other) {
  activations -= other.activations;
  logits -= other.logits;
  recomputed -= other.recomputed;
  gradients -= other.gradients;
  gathered -= other.gathered;
  return *this;
}

Working saved_by(const Block& block, Recompute recompute) {
  Working saved{.activations = block.saved(recompute)};
  if (block.recomputable && recompute == Recompute::full) return saved;
  for (const Op* op : block.order()) {
    if (op->loss) saved.logits += op->saved;
  }
  saved.activations -= saved.logits;
  return saved;
}

BlockPeak backward_peak(const Block& block, Recompute recompute) {
  return BackwardWalk(block, recompute).peak();
}

}  // namespace stepsim
