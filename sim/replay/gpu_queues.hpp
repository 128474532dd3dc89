// What each stream of the GPU was given and did within a window, in its order.
//
// Times are nanoseconds since the window began. Work is clipped so that a stream does one thing
// after the other (kernels may overlap in one by programmatic dependent launch), and nothing before
// its launch or the window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// An activity by its stream and its place in that.
struct QueuePlace {
  std::uint32_t stream = 0, index = 0;
  bool operator==(const QueuePlace&) const = default;
};

struct QueuedWork {
  std::size_t activity = 0;  ///< index in Recording::activities
  Nanoseconds start = 0, end = 0;
  /// When its launch call began; absent where it was not recorded, or began before the window.
  std::optional<Nanoseconds> launched;
  std::optional<HostEventPlace> call;  ///< that call
  Nanoseconds given_by = 0;            ///< by then it and all before it in the stream were launched
};

using GpuQueue = std::vector<QueuedWork>;
using GpuQueues = std::vector<GpuQueue>;

/// The activities that were launched in the window, or before it and had not ended, by stream, in
/// order of the streams' numbers. What has no launch belongs to it if it started before its end. A
/// core's own work is left out: it is its thread's.
GpuQueues queues_of(const Recording& recording, Interval window);

/// The last work of the queue that was launched before that moment.
std::optional<std::uint32_t> last_given(const GpuQueue& queue, Nanoseconds before);
/// The last work of the queue that has ended at that moment.
std::optional<std::uint32_t> last_ended(const GpuQueue& queue, Nanoseconds at);

}  // namespace stepsim
