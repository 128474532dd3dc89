// A recording as a plan: what one rank's threads and streams did, as tasks that wait for each other
// as they did, so that it can be simulated again, and otherwise than it was.
//
// A thread of the host is a row of waits, which divide it into epochs as in any plan. What it
// launches follows `launch_offset` behind the start of its epoch, with the launch's latency. A
// stream of the GPU is a row of timers, one for each kernel, copy and set. Edges are the order of
// streams and threads, the launches, the events between streams (work_starts.hpp), the work that a
// call waits for (gpu_waits.hpp), and threads that wait for each other (handovers.hpp). Recorded
// times do not say all of these; what no edge explains is a timer of its own before the work.
//
// A run on CPUs has no streams but those of collectives: what operators take is the thread's time.
//
// Communication takes the time that it took, with what of that is waiting for other ranks: one
// rank's recording does not tell them apart. Kernels are timers and not chains, since they run on
// several streams at once, and what ran beside them is in their times already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/recording/kernel_kinds.hpp"
#include "sim/recording/recording.hpp"
#include "sim/recording/steps.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// A call of the host that waits for the GPU.
struct ReplayedWait {
  TaskIndex task = 0;
  std::uint32_t caller = 0;  ///< index into ReplayPlan::callers
};

/// A product of matrices that takes longer than the GPU's profile says of its size.
struct SlowProduct {
  TaskIndex task = 0;
  float attainable_share = 1;  ///< of its time
};

struct ReplayPlan {
  Plan plan;
  std::vector<RecordedStep> steps;
  std::size_t steps_left_out = 0;  ///< behind them: too many launches
  std::vector<ReplayedWait> waits;
  std::vector<std::string> callers;  ///< "aten::item"
  std::vector<SlowProduct> slow_products;
  std::uint16_t gpu_marks = 0;    ///< row of the tasks that end when the GPU has done a step's work
  bool is_of_core = false;        ///< the host's time is the work itself
  Nanoseconds not_explained = 0;  ///< length of the union of all lags that nothing explains
};

/// The plan of a recording's steps, with what the GPU's profile `gpu` says of its products; nullptr: no
/// profile is of it. Its Plan::steps count the marks at which they begin and end on
/// the host, but for the first, which is time 0. Empty where the recording has no whole step or,
/// where there is a GPU, none in which something was launched; of very many launches the last steps
/// are left out.
std::optional<ReplayPlan> replay_plan(const Recording& recording, const KernelKinds& kinds,
                                      const GpuProfile* gpu = nullptr);

}  // namespace stepsim
