// A recording simulated again: unchanged, to show that its plan is right, and changed, to say what
// each change would gain.
#pragma once

#include <optional>
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
/// that of the last (of a single one, from its start). Where the host has caught up with work that
/// the GPU had been given before, it does not do so for ever: the GPU counts as slow as the host
/// was.
struct ReplayedChange {
  std::string name;      ///< "network"
  std::string sentence;  ///< "communication takes no time"
  double before_s = 0, after_s = 0;
  double gain_s() const { return before_s - after_s; }
};

struct Replay {
  std::vector<ReplayedStep> steps;
  double not_explained_s = 0;           ///< time within the window in which a lag is not explained
  std::vector<ReplayedChange> changes;  ///< in order of gain, the most first

  /// The deviation of the step that deviates most.
  double worst_deviation() const;
};

/// Absent where the recording has no whole steps (replay_plan.hpp). Runs simulations.
std::optional<Replay> replay(const Recording& recording, const KernelKinds& kinds);

}  // namespace stepsim
