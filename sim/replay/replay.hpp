// A recording simulated again: unchanged, to show that its plan is right, and changed, to say what
// each change would gain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/replay/replay_plan.hpp"

namespace stepsim {

struct ReplayedStep {
  std::string name;
  double seconds = 0;     ///< as recorded, on the host
  double replayed_s = 0;  ///< as simulated
  double deviation() const { return replayed_s / seconds - 1; }
};

/// One thing that is otherwise than it was. A step is what one takes in a long run: as long as its
/// host or its GPU takes for it, whichever is slower, from the end of the first recorded step to
/// that of the last. Where the GPU is less far behind its host at the end than at the beginning, it
/// cannot go on so: it counts as slow as the host was. Of a single step it is the host's time, and
/// the GPU may end as late behind it as it did.
struct ReplayedChange {
  std::string name;      ///< "network"
  std::string sentence;  ///< "communication takes no time"
  double before_s = 0, after_s = 0;
  double gain_s() const { return before_s - after_s; }
};

struct Replay {
  std::vector<ReplayedStep> steps;
  std::size_t steps_left_out = 0;       ///< of the recording, behind them: too many launches
  double not_explained_s = 0;           ///< time within the window in which a lag is not explained
  std::vector<ReplayedChange> changes;  ///< in order of gain, the most first

  /// The deviation of the step that deviates most.
  double worst_deviation() const;
};

/// Simulates the plan as it is, and with each change. One at a time per process, as simulate().
Replay replay(const ReplayPlan& plan);

}  // namespace stepsim
