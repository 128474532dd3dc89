// Why a GPU does nothing: the gaps between its activities, told apart by the launch of what follows
// and by what the launching thread did meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/recording/interval_set.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

/// Idle time by its cause; the causes sum to it.
struct IdleCauses {
  Nanoseconds tiny = 0;            ///< gaps below 2 us, whatever their cause
  Nanoseconds queued = 0;          ///< before what was launched before the gap began
  Nanoseconds late_host = 0;       ///< until the launch call of what follows began
  Nanoseconds launch_latency = 0;  ///< from there until it started on the GPU
  Nanoseconds tail = 0;            ///< behind the last activity of the window
  Nanoseconds unmatched = 0;       ///< before what has no launch in the recording
};

/// Late-host time by what the thread of the next launch did, the first of these that it did.
struct HostStates {
  Nanoseconds sync = 0;       ///< a synchronising call of the runtime
  Nanoseconds loader = 0;     ///< PyTorch's DataLoader handed over a batch
  Nanoseconds runtime = 0;    ///< another call of the runtime
  Nanoseconds operation = 0;  ///< an operator
  Nanoseconds python = 0;     ///< nothing that was recorded: Python, or code that it calls
};

/// A gap in which the host was late.
struct LateGap {
  Interval gap;
  Nanoseconds late = 0;    ///< the part until the launch call of what follows began
  std::size_t before = 0;  ///< the activity that follows: its index in Recording::activities
};

/// Parts of the causes in which nobody knows whether the GPU was idle.
struct IdleDoubts {
  Nanoseconds graph_replays = 0;  ///< within replays of a CUDA graph, whose kernels may be missing
  /// Elsewhere, what was launched waits for more than 1 ms while nothing runs on any stream: what
  /// it waits for was not recorded.
  Nanoseconds long_waits = 0;
  /// Both together, by their cause.
  Nanoseconds of_queued = 0, of_launch_latency = 0;
};

/// What a moment of idle time is: a cause, or a state of the late host.
enum class IdleKind : std::uint8_t {
  tiny,
  queued,
  late_sync,
  late_loader,
  late_runtime,
  late_operation,
  late_python,
  launch_latency,
  tail,
  unmatched,
};

struct IdlePiece {
  Interval time;
  IdleKind kind = IdleKind::tiny;
  std::uint32_t thread = 0;  ///< of late ones: that of the launch that came late
  bool is_doubtful = false;  ///< nobody knows whether the GPU was idle
};

struct IdleTime {
  IdleCauses causes;
  HostStates late_host;
  std::vector<IdlePiece> pieces;  ///< all of the idle time, in order of time
  std::vector<LateGap> longest;   ///< at most 5, the longest first
  IdleDoubts doubts;
};

/// The idle time of a window. `busy` is when the GPU does anything.
IdleTime idle_time(const Recording& recording, const IntervalSet& busy, Interval window);

/// Whether a call of the runtime waits for the GPU: cudaStreamSynchronize, hipEventSynchronize.
bool synchronises(std::string_view call);
/// Whether a call replays a graph: cudaGraphLaunch.
bool replays_graph(std::string_view call);

}  // namespace stepsim
