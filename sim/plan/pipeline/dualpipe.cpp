// DualPipe: micro-batches enter at both ends, so that each stage holds two parts of two copies of
// the model.
//
// DeepSeek-AI 2024 (arXiv 2412.19437, section 3.2.1); order as in
// deepseek-ai/DualPipe@bb214e8 dualpipe/dualpipe.py. Stage r holds part r for the first half of the
// micro-batches and part p-1-r for the second. A forward pass of one direction runs as one with a
// backward pass of the other: both wait for both inputs, and exchanges of tokens of the one run
// beside kernels of the other (plan/overlap.hpp). Bubble (p/2-1)(F&B + B - 3W) with F = B_i = W
// (the DualPipe README), somewhat less when they differ; p + 1 passes in flight on every stage.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

int both_ways(const PipelineShape& shape, int stage, int chunk) {
  return chunk == 0 ? stage : shape.stages - 1 - stage;
}

/// Writes the passes of one stage. `near` is the direction whose input comes from the nearer end of
/// the pipeline, `far` the one from the other end.
class Writer {
 public:
  Writer(const PipelineShape& shape, int stage)
      : half_batch_(shape.micro_batches / 2), near_(stage < shape.stages / 2 ? 0 : 1) {}

  int near() const { return near_; }
  int far() const { return 1 - near_; }

  void forward(int way) { add(PassKind::forward, way, false); }
  void backward(int way, bool split = false, bool joined = false) {
    add(split ? PassKind::input_gradient : PassKind::backward, way, joined);
    if (!split) return;
    later_.push_back(actions_.back());
    later_.back().pass = PassKind::weight_gradient;
  }
  void both(int forward_way, int backward_way) {
    forward(forward_way);
    backward(backward_way, false, true);
  }
  /// Adds the weight gradients that have waited longest.
  void weight_gradient() { actions_.push_back(later_[taken_++]); }

  std::vector<Action> take() { return std::move(actions_); }

 private:
  void add(PassKind kind, int way, bool joined) {
    auto& count = counts_[kind == PassKind::forward ? 0 : 1][static_cast<std::size_t>(way)];
    actions_.push_back({kind, way * half_batch_ + count++, way, joined});
  }

  int half_batch_, near_;
  std::array<std::array<int, 2>, 2> counts_{};
  std::vector<Action> actions_, later_;
  std::size_t taken_ = 0;
};

/// The warm-up. `outer` is how many stages of its half lie between the stage and the middle,
/// `inner` how many lie between it and the end.
void warm_up(Writer& w, int outer, int inner) {
  for (int i = 0; i < 2 * outer; ++i) w.forward(w.near());
  for (int i = 0; i < inner; ++i) {
    w.forward(w.near());
    w.forward(w.far());
  }
  for (int i = 0; i < outer; ++i) {
    w.backward(w.far(), true);
    w.weight_gradient();
    w.forward(w.far());
  }
}

void steady(Writer& w, int outer, int passes) {
  for (int i = 0; i < passes; ++i) {
    if (i == 0 && outer == 0) {  // the middle stages start apart, for a shorter bubble
      w.forward(w.near());
      w.backward(w.far());
    } else {
      w.both(w.near(), w.far());
    }
    w.both(w.far(), w.near());
  }
  for (int i = 0; i < outer; ++i) {
    w.backward(w.far());
    w.both(w.far(), w.near());
  }
}

/// The end of the order. From the middle on it computes input gradients only, so that there are
/// weight gradients to end with.
void cool_down(Writer& w, int outer, int inner) {
  for (int i = 0; i < 2 * inner; ++i) w.backward(i % 2 == 0 ? w.far() : w.near(), i >= inner);
  for (int i = 0; i < outer; ++i) {
    w.weight_gradient();
    w.backward(w.near(), true);
  }
  for (int i = 0; i < inner; ++i) w.weight_gradient();
}

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int half = shape.stages / 2;
  const int from_end = std::min(stage, shape.stages - 1 - stage);
  const int outer = half - from_end - 1;
  Writer writer(shape, stage);
  warm_up(writer, outer, from_end + 1);
  steady(writer, outer, shape.micro_batches / 2 - shape.stages + from_end + 1);
  cool_down(writer, outer, from_end + 1);
  return writer.take();
}

std::string objection(int stages, int micro_batches) {
  if (stages % 2 != 0)
    return fmt::format("needs an even number of stages, but there are {}", stages);
  if (micro_batches % 2 == 0 && micro_batches >= 2 * stages) return "";
  return fmt::format(
      "needs an even number of micro-batches, at least {} for {} stages, but there are {}",
      2 * stages, stages, micro_batches);
}

const Registered<Schedule> dualpipe{{
    .name = "dualpipe",
    .description = "micro-batches from both ends, two copies of the model (DeepSeek)",
    .needs = {.least_chunks = 2,
              .most_chunks = 2,
              .copies = 2,
              .overlaps = true,
              .joins = Joins::always,
              .objection = objection},
    .part = both_ways,
    .order = order,
}};

}  // namespace
}  // namespace stepsim
