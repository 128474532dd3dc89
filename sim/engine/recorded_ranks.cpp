// A choice of ranks that depends on the plan alone, so that it is the same folded and unfolded.
#include "sim/engine/recorded_ranks.hpp"

#include <algorithm>
#include <set>

namespace stepsim {
namespace {

class Choice {
 public:
  Choice(const Plan& plan, std::size_t most) : plan_(plan), left_(most) {}

  int program_of(const FoldedRank& rank) const {
    return plan_.program_of[static_cast<std::size_t>(rank.rank)];
  }
  std::size_t tasks_of(const FoldedRank& rank) const {
    return std::max<std::size_t>(plan_.program(rank.rank).tasks.size(), 1);
  }
  bool is_full() const { return left_ == 0; }
  std::size_t room_for(const FoldedRank& rank) const { return left_ / tasks_of(rank); }
  void add(const FoldedRank& rank) {
    const double alike = rank.multiplicity;
    if (!ranks_.emplace(rank.rank, RecordedRank{&rank, alike}).second) return;
    left_ -= std::min(left_, tasks_of(rank));
  }
  /// The chosen ranks of a program share the weight of all ranks that run it.
  void weigh(const std::vector<FoldedRank>& classes) {
    std::map<int, double> all, chosen;
    for (const FoldedRank& rank : classes) all[program_of(rank)] += rank.multiplicity;
    for (const auto& [number, one] : ranks_) chosen[program_of(*one.rank)] += one.weight;
    for (auto& [number, one] : ranks_)
      one.weight *= all[program_of(*one.rank)] / chosen[program_of(*one.rank)];
  }
  void add_silent(const FoldedRank& rank) { ranks_.emplace(rank.rank, RecordedRank{&rank, 0}); }
  std::map<int, RecordedRank> take() { return std::move(ranks_); }

 private:
  const Plan& plan_;
  std::size_t left_;
  std::map<int, RecordedRank> ranks_;
};

bool stands_for_any(const FoldedRank& rank, const std::vector<int>& wanted) {
  return std::ranges::any_of(wanted, [&](int one) {
    return one == rank.rank || std::ranges::find(rank.members, one) != rank.members.end();
  });
}

}  // namespace

std::map<int, RecordedRank> recorded_ranks(const Plan& plan, const std::vector<FoldedRank>& classes,
                                           const std::vector<int>& wanted, std::size_t most) {
  Choice choice(plan, most);
  std::size_t tasks = 0;
  for (const FoldedRank& rank : classes) tasks += choice.tasks_of(rank);
  if (tasks <= most) {
    for (const FoldedRank& rank : classes) choice.add(rank);
    return choice.take();
  }
  std::set<int> programs;
  for (const FoldedRank& rank : classes)
    if (programs.insert(choice.program_of(rank)).second && !choice.is_full()) choice.add(rank);
  const std::size_t room = std::min(choice.room_for(classes.front()), classes.size());
  for (std::size_t i = 0; i < room && !choice.is_full(); ++i)
    choice.add(classes[i * classes.size() / room]);
  choice.weigh(classes);
  for (const FoldedRank& rank : classes)
    if (stands_for_any(rank, wanted)) choice.add_silent(rank);
  return choice.take();
}

}  // namespace stepsim
