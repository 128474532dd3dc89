// ZB-V: two chunks a stage, down the stages and up again, with a split backward: no bubble in the
// memory of 1F1B.
//
// Qi et al. 2023 (arXiv 2401.10241, section 6). Order as in pytorch/pytorch@1fd7abc
// torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble, which drops what it has too
// much where there are fewer than 2p-1 micro-batches. Stage r holds the parts r and 2p-1-r; the
// last stage hands its own result on to itself. No bubble when F = B_i = W and nothing makes the
// stages wait for each other between steps; every stage holds 2p chunk passes, p micro-batches.
#include <algorithm>
#include <array>

#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/v_block.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

/// Writes passes in order; each kind counts its micro-batches by itself.
class Writer {
 public:
  void forward(int chunk) { add(PassKind::forward, chunk); }
  void input_gradient(int chunk) { add(PassKind::input_gradient, chunk); }
  void weight_gradient(int chunk) { add(PassKind::weight_gradient, chunk); }
  void backward(int chunk) {
    input_gradient(chunk);
    weight_gradient(chunk);
  }
  int done(PassKind kind, int chunk) const {
    return next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
  }
  /// The passes that were written, without those of micro-batches that do not exist.
  std::vector<Action> take(int micro_batches) {
    std::erase_if(actions_, [&](const Action& a) { return a.micro_batch >= micro_batches; });
    return std::move(actions_);
  }

 private:
  void add(PassKind kind, int chunk) {
    int& next = next_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk)];
    actions_.push_back({kind, next++, chunk});
  }
  std::vector<Action> actions_;
  std::array<std::array<int, 2>, kPassKinds> next_{};
};

void warm_up(Writer& writer, int p, int r) {
  for (int i = 0; i < 2 * (p - r) - 1; ++i) writer.forward(0);
  for (int i = 0; i < r; ++i) {
    writer.forward(1);
    writer.forward(0);
  }
  for (int i = 0; i < p - r; ++i) {
    writer.forward(1);
    writer.backward(1);
  }
}

void cool_down(Writer& writer, int p, int r, int micro_batches) {
  for (int i = 0; i < r; ++i) {
    writer.input_gradient(0);
    writer.input_gradient(1);
  }
  for (int i = 0; i < p - r; ++i) {
    writer.input_gradient(0);
    writer.weight_gradient(0);
  }
  for (const int chunk : {1, 0}) {
    while (writer.done(PassKind::weight_gradient, chunk) < micro_batches)
      writer.weight_gradient(chunk);
  }
}

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int p = shape.stages;
  const int micro_batches = std::max(shape.micro_batches, 2 * p - 1);
  Writer writer;
  warm_up(writer, p, stage);
  while (writer.done(PassKind::forward, 1) < micro_batches) {
    if (writer.done(PassKind::forward, 0) < micro_batches) writer.forward(0);
    writer.backward(0);
    writer.forward(1);
    writer.backward(1);
  }
  cool_down(writer, p, stage, micro_batches);
  return writer.take(shape.micro_batches);
}

const Registered<Schedule> zb_v{{
    .name = "zb-v",
    .description = "two chunks per stage in V shape, split backward: no bubble, memory of 1F1B",
    .needs = {.least_chunks = 2, .most_chunks = 2, .overlaps = true},
    .part = part_in_v,
    .order = order,
}};

}  // namespace
}  // namespace stepsim
