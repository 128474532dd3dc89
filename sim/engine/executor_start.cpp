// Ranks before their first task: what each of their tasks waits for.
#include <algorithm>

#include "sim/engine/executor.hpp"

namespace stepsim {

std::int64_t Executor::tasks_of(const Plan& plan, const Folding& folding) {
  std::int64_t tasks = 0;
  for (const FoldedRank& rank : folding.ranks)
    tasks += static_cast<std::int64_t>(plan.program(rank.rank).tasks.size());
  return tasks;
}

void Executor::start_ranks() {
  ranks_.resize(folding_.ranks.size());
  running_chains_.resize(ranks_.size());
  if (plan_.kernel_draws) varied_.resize(ranks_.size());
  std::vector<std::vector<RankState*>> of_program(plan_.programs.size());
  std::size_t lines = 0, epochs = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    RankState& state = ranks_[i];
    state.folded = &folding_.ranks[i];
    const int number = plan_.program_of[static_cast<std::size_t>(state.folded->rank)];
    state.program = &plan_.programs[static_cast<std::size_t>(number)];
    of_program[static_cast<std::size_t>(number)].push_back(&state);
    state.left = state.program->tasks.size();
    if (state.left > 0) ++running_;
    lines += state.left / kBlock + 1;
    epochs += state.program->epochs;
  }
  needs_.resize(lines * kBlock);
  epoch_starts_.resize(epochs);
  std::uint8_t* place = needs_.data();
  double* start = epoch_starts_.data();
  for (const std::vector<RankState*>& alike : of_program) {
    for (std::size_t i = 0; i < alike.size(); ++i) {
      RankState& state = *alike[i];
      state.first_needs = place + i * kBlock;
      state.needs_apart = alike.size() * kBlock;
      state.epoch_start = std::exchange(start, start + state.program->epochs);
    }
    if (alike.empty()) continue;
    const std::vector<Task>& tasks = alike.front()->program->tasks;
    for (TaskIndex task = 0; task < tasks.size(); ++task) {
      for (const RankState* state : alike) needs(*state, task) = tasks[task].needs;
    }
    place += (tasks.size() / kBlock + 1) * alike.size() * kBlock;
  }
}

}  // namespace stepsim
