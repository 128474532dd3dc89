// Reading a schedule's orders.
#include "sim/search/schedule_facts.hpp"

#include <algorithm>

#include "sim/plan/program/passes.hpp"

namespace stepsim {
namespace {

/// Most passes in flight. Activations go with the pass that needs them for gradients of inputs.
/// `pairs`: of joined passes one saves what the other frees.
int in_flight(const std::vector<Action>& order, bool pairs) {
  int now = 0, most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PassKind pass = order[i].pass;
    if (pass == PassKind::forward) ++now;
    if (pass == PassKind::backward || pass == PassKind::input_gradient) --now;
    const bool goes_on = pairs && i + 1 < order.size() && order[i + 1].joined;
    if (!goes_on) most = std::max(most, now);
  }
  return most;
}

void note_split(ScheduleFacts& facts, const std::vector<Action>& order) {
  const auto is = [](PassKind kind) {
    return [kind](const Action& action) { return action.pass == kind; };
  };
  facts.splits |= std::ranges::any_of(order, is(PassKind::input_gradient));
  facts.all_split &= std::ranges::none_of(order, is(PassKind::backward));
}

int reductions_of_chunk(const std::vector<Action>& order, int chunks) {
  Parallelism split;
  split.pipeline.chunks = chunks;
  split.data.no_sync = false;
  const std::vector<bool> reduces = reductions(order, split);
  int count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) count += reduces[i] && order[i].chunk == 0;
  return count;
}

ScheduleFacts made(const Schedule& schedule, const PipelineShape& shape) {
  const Placement placement(schedule, shape);
  ScheduleFacts facts{.all_split = true};
  facts.stage.resize(static_cast<std::size_t>(placement.parts()), -1);
  for (int stage = 0; stage < shape.stages; ++stage) {
    std::vector<int> parts;
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
      parts.push_back(placement.part({stage, chunk}));
      int& holder = facts.stage[static_cast<std::size_t>(parts.back())];
      if (holder < 0) holder = stage;
    }
    const auto order = schedule.order(shape, stage);
    facts.in_flight.push_back(in_flight(order, shape.pairs));
    facts.last_in_flight.push_back(placement.holds(stage, placement.parts() - 1));
    note_split(facts, order);
    if (stage == 0) facts.reductions = reductions_of_chunk(order, shape.chunks);
    facts.parts.push_back(std::move(parts));
  }
  return facts;
}

}  // namespace

const ScheduleFacts& FactsOfSchedules::of(const Schedule& schedule, const PipelineShape& shape) {
  const auto key =
      std::tuple(&schedule, shape.stages, shape.micro_batches, shape.chunks, shape.pairs);
  const auto found = known_.find(key);
  return found != known_.end() ? found->second
                               : known_.emplace(key, made(schedule, shape)).first->second;
}

}  // namespace stepsim
