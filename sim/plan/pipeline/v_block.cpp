// Finds the turns of a building block, and writes its passes in order.
#include "sim/plan/pipeline/v_block.hpp"

#include <algorithm>
#include <array>
#include <bitset>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

constexpr int kUnits = 6;  // passes of a stage and micro-batch

/// Units of the passes of micro-batch 0 on a stage.
struct Times {
  int forward0 = 0, forward1 = 0, backward1 = 0, backward0 = 0;
};

/// Units between the end of one way and the start of the next, on the last or first stage.
using Turns = std::array<int, 3>;

Times times_of(int stages, int stage, VOffsets o, const Turns& turns) {
  const int last = stages - 1;
  Times t;
  t.forward0 = o.forward_down * stage;
  const int up = o.forward_down * last + turns[0];
  t.forward1 = up + o.forward_up * (last - stage);
  const int down = up + o.forward_up * last + turns[1];
  t.backward1 = down + o.backward_down * stage;
  const int back = down + o.backward_down * last + turns[2];
  t.backward0 = back + o.backward_up * (last - stage);
  return t;
}

std::array<int, 4> all_of(const Times& t) {
  return {t.forward0, t.forward1, t.backward1, t.backward0};
}

bool collides(int stages, VOffsets offsets, const Turns& turns) {
  for (int stage = 0; stage < stages; ++stage) {
    std::bitset<kUnits> taken;
    for (const int time : all_of(times_of(stages, stage, offsets, turns))) {
      const auto unit = static_cast<std::size_t>(time % kUnits);
      if (taken[unit]) return true;
      taken.set(unit);
    }
  }
  return false;
}

/// The shortest turns at which no two passes of a stage fall on the same unit.
Turns turns_of(int stages, VOffsets offsets) {
  Turns best{};
  int least = 3 * kUnits + 1;
  for (int a = 1; a <= kUnits; ++a) {
    for (int b = 1; b <= kUnits; ++b) {
      for (int c = 1; c <= kUnits; ++c) {
        if (a + b + c >= least || collides(stages, offsets, {a, b, c})) continue;
        best = {a, b, c};
        least = a + b + c;
      }
    }
  }
  if (least > 3 * kUnits) throw InternalError("the passes of a building block collide");
  return best;
}

/// The first unit behind that one whose place in the block is free, which is taken.
int free_unit(int behind, std::bitset<kUnits>& taken) {
  int unit = behind + 1;
  while (taken[static_cast<std::size_t>(unit % kUnits)]) ++unit;
  taken.set(static_cast<std::size_t>(unit % kUnits));
  return unit;
}

struct Timed {
  int unit;
  Action action;
};

}  // namespace

int part_in_v(const PipelineShape& shape, int stage, int chunk) {
  return chunk == 0 ? stage : 2 * shape.stages - 1 - stage;
}

std::vector<Action> v_order(const PipelineShape& shape, int stage, VOffsets offsets) {
  const Times t = times_of(shape.stages, stage, offsets, turns_of(shape.stages, offsets));
  std::bitset<kUnits> taken;
  for (const int time : all_of(t)) taken.set(static_cast<std::size_t>(time % kUnits));
  const int weights1 = free_unit(t.backward1, taken);
  const int weights0 = free_unit(t.backward0, taken);
  std::vector<Timed> passes;
  for (int i = 0; i < shape.micro_batches; ++i) {
    const int start = kUnits * i;
    passes.push_back({start + t.forward0, {PassKind::forward, i, 0}});
    passes.push_back({start + t.forward1, {PassKind::forward, i, 1}});
    passes.push_back({start + t.backward1, {PassKind::input_gradient, i, 1}});
    passes.push_back({start + t.backward0, {PassKind::input_gradient, i, 0}});
    passes.push_back({start + weights1, {PassKind::weight_gradient, i, 1}});
    passes.push_back({start + weights0, {PassKind::weight_gradient, i, 0}});
  }
  std::ranges::sort(passes, {}, &Timed::unit);
  std::vector<Action> order;
  for (const Timed& pass : passes) order.push_back(pass.action);
  return order;
}

}  // namespace stepsim
