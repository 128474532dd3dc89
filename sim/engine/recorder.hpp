// Turning finished tasks of the recorded ranks into a timeline.
#pragma once

#include <vector>

#include "sim/engine/chain_run.hpp"
#include "sim/plan/fold.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// What the executor knows of a task when it starts.
struct Started {
  double arrival = 0;
  double start = 0;
  std::int32_t blocker = kNoSpan;
  std::uint32_t operation = 0;       ///< communication: its number among operations
  const ChainRun* slowed = nullptr;  ///< chains: how it went, when a collective ran beside it
  const Chain* varied = nullptr;     ///< chains: its kernels, when they had jitter
};

/// Records one rank.
class Recorder {
 public:
  Recorder(const Plan& plan, const FoldedRank& rank, bool kernels);

  /// What is noted of the task that runs on its row, or runs next: a row has one at a time.
  Started& started(TaskIndex task) { return started_[program_.tasks[task].row]; }
  /// Appends the task's spans; returns the index of its last one. `host`: when its launches begin
  /// (chains).
  std::int32_t finished(TaskIndex task, double end, double host);
  /// The rank's timeline, with its memory curve.
  RankTimeline take();

 private:
  std::int32_t add_chain(Span span, const Chain& chain, double host, const ChainRun* slowed);
  void add_memory_curve();
  void sort_spans();

  const Plan& plan_;
  const Program& program_;
  bool kernels_;
  RankTimeline timeline_;
  std::vector<Started> started_;                      // by row
  std::vector<std::int32_t> first_span_, last_span_;  // by task
};

}  // namespace stepsim
