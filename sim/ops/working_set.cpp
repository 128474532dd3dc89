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
  BackwardWalk(const Block& block, const Recomputation& recompute)
      : block_(block),
        dag_(block.dag),
        recompute_(block.recomputable ? recompute : Recomputation{}),
        inputs_(dag_.ops.size()),
        known_(dag_.ops.size(), false) {
    std::vector<bool> hands_on(dag_.ops.size(), false);
    for (const auto& [from, to] : dag_.edges) {
      inputs_[to].push_back(from);
      hands_on[from] = true;
    }
    for (Vertex v = 0; v < inputs_.size(); ++v) {
      const Op& op = dag_.ops[v];
      (op.loss ? logits_ : saved_) += op.kept();
      if (!hands_on[v]) know(v, false);
    }
  }

  BlockPeak peak() {
    for (const RecomputeRegion& region : block_.regions) {
      if (recompute_.repeats(region.module)) saved_ -= region.dropped;
    }
    const std::vector<const Op*> order = block_.order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      const auto v = static_cast<Vertex>(*op - dag_.ops.data());
      know_inputs(v);
      bring_back(v);
      note(v);
      release(v);
    }
    return most_;
  }

 private:
  /// Modules that this op's backward pass needs again.
  void bring_back(Vertex v) {
    for (const RecomputeRegion& region : block_.regions) {
      if (region.before != v || !recompute_.repeats(region.module)) continue;
      saved_ += region.dropped;
      again_ += region.dropped;
    }
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
    (op.loss ? logits_ : saved_) -= op.kept();
    for (const RecomputeRegion& region : block_.regions) {
      if (region.first == v && recompute_.repeats(region.module)) again_ -= region.dropped;
    }
    (logits_op_ == v ? logit_gradients_ : gradients_) -= op.output;
  }

  void note(Vertex v) {
    const Bytes again = std::min(again_, saved_);  // what is used up goes first
    Working now{.activations = saved_ - again,
                .logits = logits_ + logit_gradients_,
                .recomputed = again,
                .gradients = gradients_ + dag_.ops[v].scratch};
    if (recompute_.kind == Recompute::full) {
      now.recomputed = std::max(saved_ - block_.input, Bytes{0});
      now.activations = block_.input;
    }
    if (!most_.op.empty() && now.total() <= most_.held.total()) return;
    most_ = {now, dag_.ops[v].name};
  }

  const Block& block_;
  const OpDag& dag_;
  const Recomputation recompute_;
  std::vector<std::vector<Vertex>> inputs_;
  std::vector<bool> known_;
  Vertex logits_op_ = static_cast<Vertex>(-1);
  bool reached_input_ = false;
  Bytes again_;  ///< the part of what is saved that recompute has brought back
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

Working saved_by(const Block& block, const Recomputation& recompute) {
  Working saved{.activations = block.saved(recompute)};
  if (block.recomputable && recompute.kind == Recompute::full) return saved;
  for (const Op& op : block.dag.ops) {
    if (op.loss) saved.logits += op.saved;
  }
  saved.activations -= saved.logits;
  return saved;
}

BlockPeak backward_peak(const Block& block, const Recomputation& recompute) {
  if (!block.has_gradient()) return {};
  return BackwardWalk(block, recompute).peak();
}

}  // namespace stepsim
