// Why each piece of the GPU's work began when it did.
//
// It waits for its launch, for the work before it in its stream, and for events of other streams.
// Recordings do not name the events: where the thread called cudaStreamWaitEvent before the launch,
// the work waits for the last work of each other stream that had ended by then; and where work that
// was launched long ago begins right behind the end of work on another stream, for that. What
// remains between the last of these and the start is a fixed lag, which is not explained.
#pragma once

#include <vector>

#include "sim/replay/gpu_queues.hpp"

namespace stepsim {

struct WorkStart {
  /// When its launch had reached the GPU: the call and the usual latency behind it, or, where it
  /// waited for its launch, when it began. Absent as QueuedWork::launched is.
  std::optional<Nanoseconds> launched;
  Nanoseconds begin = 0;  ///< start of its time, with what lies between it and the work before it
  Nanoseconds not_explained = 0;  ///< lag that ends with `begin`
  std::vector<QueuePlace> after;  ///< of other streams
};

/// By stream and place, as the queues.
std::vector<std::vector<WorkStart>> work_starts(const Recording& recording, Interval window,
                                                const GpuQueues& queues);

}  // namespace stepsim
