// Explaining a simulation that cannot end: who waits for whom.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/engine/executor.hpp"

namespace stepsim {

std::string describe_deadlock(const Executor& executor) {
  const auto& ranks = executor.ranks_;
  /// The group in which a rank waits for others, or -1.
  const auto waits_in = [&](std::uint32_t rank) {
    for (std::size_t g = 0; g < executor.groups_.size(); ++g) {
      const auto& group = executor.groups_[g];
      const auto mine =
          std::ranges::find_if(group.arrived, [&](const auto& a) { return a.rank == rank; });
      if (!group.running && mine != group.arrived.end()) return static_cast<int>(g);
    }
    return -1;
  };
  const auto missing_from = [&](int group) {
    const auto& arrived = executor.groups_[static_cast<std::size_t>(group)].arrived;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      const auto& groups = ranks[rank].folded->group_of;
      const bool member = std::ranges::find(groups, group) != groups.end();
      const bool here = std::ranges::any_of(arrived, [&](const auto& a) { return a.rank == rank; });
      if (member && !here) return static_cast<int>(rank);
    }
    return -1;
  };
  std::string text = "the schedule cannot complete:";
  std::set<std::uint32_t> seen;
  std::uint32_t rank = 0;
  while (rank < ranks.size() && waits_in(rank) < 0) ++rank;
  while (rank < ranks.size() && seen.insert(rank).second) {
    const int group = waits_in(rank);
    if (group < 0) {
      text += fmt::format("\n  rank {} never gets there", ranks[rank].folded->rank);
      break;
    }
    const auto& arrived = executor.groups_[static_cast<std::size_t>(group)].arrived;
    const auto mine = std::ranges::find_if(arrived, [&](const auto& a) { return a.rank == rank; });
    const Task& task = executor.task_of(rank, mine->task);
    const int other = missing_from(group);
    text += fmt::format("\n  rank {} (stage {}) is in '{}' of micro-batch {} and waits for rank {}",
                        ranks[rank].folded->rank, ranks[rank].program->stage,
                        executor.plan_.names[task.name], task.micro_batch,
                        other < 0 ? -1 : ranks[static_cast<std::size_t>(other)].folded->rank);
    if (other < 0) break;
    rank = static_cast<std::uint32_t>(other);
  }
  return text;
}

}  // namespace stepsim
