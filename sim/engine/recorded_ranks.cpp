// A choice of ranks that depends on the plan alone, so that it is the same folded and unfolded.
#include "sim/engine/recorded_ranks.hpp"

#include <algorithm>
#include <set>

namespace stepsim {
namespace {

class Choice {
 public:
  Choice(const Plan& plan, std::size_t most) : plan_(plan), left_(most) {}

  std::size_t tasks_of(const FoldedRank& rank) const {
    return plan_.program(rank.rank).tasks.size();
  }
  bool is_full() const { return left_ == 0; }
  void add(const FoldedRank& rank) {
    if (ranks_.emplace(rank.rank, &rank).second) left_ -= std::min(left_, tasks_of(rank));
  }
  std::size_t room_for(const FoldedRank& rank) const { return left_ / tasks_of(rank); }
  std::map<int, const FoldedRank*> take() { return std::move(ranks_); }

 private:
  const Plan& plan_;
  std::size_t left_;
  std::map<int, const FoldedRank*> ranks_;
};

bool stands_for_any(const FoldedRank& rank, const std::vector<int>& wanted) {
  return std::ranges::any_of(wanted, [&](int one) {
    return one == rank.rank || std::ranges::find(rank.members, one) != rank.members.end();
  });
}

}  // namespace

std::map<int, const FoldedRank*> recorded_ranks(const Plan& plan,
                                                const std::vector<FoldedRank>& classes,
                                                const std::vector<int>& wanted, std::size_t most) {
  Choice choice(plan, most);
  std::size_t tasks = 0;
  for (const FoldedRank& rank : classes) tasks += choice.tasks_of(rank);
  if (tasks <= most) {
    for (const FoldedRank& rank : classes) choice.add(rank);
    return choice.take();
  }
  for (const FoldedRank& rank : classes)
    if (stands_for_any(rank, wanted)) choice.add(rank);
  std::set<int> programs;
  for (const FoldedRank& rank : classes) {
    const bool is_new =
        programs.insert(plan.program_of[static_cast<std::size_t>(rank.rank)]).second;
    if (is_new && !choice.is_full()) choice.add(rank);
  }
  const std::size_t room = std::min(choice.room_for(classes.front()), classes.size());
  for (std::size_t i = 0; i < room && !choice.is_full(); ++i)
    choice.add(classes[i * classes.size() / room]);
  return choice.take();
}

}  // namespace stepsim
