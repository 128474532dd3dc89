// How the executor begins, and where it may stop: ranks before their first task, and steps that
// repeat.
#include <algorithm>

#include "sim/engine/executor.hpp"
#include "sim/timeline/repeating.hpp"

namespace stepsim {

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

void Executor::watch_steps() {
  const bool can_stand = plan_.steps_alike && plan_.warmup > 0 && plan_.steps > plan_.warmup + 1;
  if (!can_stand || options_.spans || plan_.engine != EngineKind::exact) return;
  left_in_step_.assign(static_cast<std::size_t>(plan_.steps), 0);
  for (const RankState& state : ranks_) {
    for (const Task& task : state.program->tasks) ++left_in_step_[task.step];
  }
}

/// All of a step is done, on all ranks.
void Executor::end_step(int step) {
  if (step != plan_.warmup) return;
  Timeline two;  // the two steps that are compared
  for (const RankState& state : ranks_) {
    if (state.recorded) two.ranks.push_back(state.recorded->recorder.since(step - 1));
  }
  const auto last = step_ends_.begin() + step;
  two.step_ends.assign(step_ends_.begin(), last + 1);
  if (!last_step_repeats(two)) return;
  const double period = *last - *(last - 1);
  for (auto next = last + 1; next != step_ends_.end(); ++next) *next = *(next - 1) + period;
  is_stopped_ = true;
  board_->stop();
}

}  // namespace stepsim
