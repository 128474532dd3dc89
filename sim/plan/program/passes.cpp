// Grouping the passes of an order.
#include "sim/plan/program/passes.hpp"

namespace stepsim {
namespace {

bool is_forward(const Action& action) { return action.pass == PassKind::forward; }
bool is_backward(const Action& action) { return !is_forward(action); }

/// Whether the pass is the backward half of a pair that the unit's forward pass has opened.
bool closes_pair(const Action& action, const std::vector<ExchangedPasses>& units) {
  return is_backward(action) && !units.empty() && units.back().passes.size() == 1 &&
         is_forward(units.back().passes.front());
}

}  // namespace

std::vector<ExchangedPasses> exchanges(const std::vector<Action>& order, const Schedule& schedule,
                                       const Pipeline& pipeline) {
  const bool turns_once = std::is_partitioned(order.begin(), order.end(), is_forward);
  const bool pairs = schedule.needs.takes_turns && !pipeline.overlap_p2p && !turns_once;
  std::vector<ExchangedPasses> units;
  for (const Action& action : order) {
    if (action.pass == PassKind::weight_gradient) {
      units.back().weight_gradients.push_back(action);
      continue;
    }
    if (!action.joined && !(pairs && closes_pair(action, units))) units.emplace_back();
    units.back().passes.push_back(action);
  }
  return units;
}

std::vector<bool> reductions(const std::vector<Action>& order, const Parallelism& split) {
  std::vector<bool> reduces(order.size(), false);
  const int chunks = split.pipeline.chunks;
  std::vector<bool> comes_again(static_cast<std::size_t>(chunks), false);
  int next_chunk = -1;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (!completes_gradients(order[i].pass)) continue;
    const auto chunk = static_cast<std::size_t>(order[i].chunk);
    const bool turns = chunks == 1 || next_chunk != order[i].chunk;
    reduces[i] = !comes_again[chunk] || (!split.data.no_sync && turns);
    comes_again[chunk] = true;
    next_chunk = order[i].chunk;
  }
  return reduces;
}

}  // namespace stepsim
