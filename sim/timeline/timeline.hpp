// What happened when: spans on the rows of each simulated rank, and who held whom up.
//
// A rank has a few rows (compute, host, one per communicator, copy, loader workers). A span is one
// task on one row. It arrives (everything before it on its row is done), starts (all that it needs
// is there) and ends; `blocker` is the span on the same rank whose end let it start last. From
// these the time of a rank is partitioned into causes (partition.hpp). Times are seconds since the
// start of the simulation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/parallel_axis.hpp"

namespace stepsim {

/// What a moment of a rank's compute row is spent on. Every moment has exactly one.
enum class Cause : std::uint8_t {
  forward,
  recompute,
  backward,
  optimizer,
  contention,     ///< compute that is slower because a collective holds SMs
  stall,          ///< the host of a slow GPU does nothing (faults.slow_gpus)
  exposed_first,  ///< waiting for what is in flight along the first axis; one for each axis
  pipeline_bubble = exposed_first + kAxes,  ///< waiting for another stage to produce
  sync_wait,                                ///< waiting for another rank to join a collective
  batch_wait,                               ///< waiting for the input pipeline
  h2d,                                      ///< waiting for a copy of the batch to the GPU
  cpu_work,                                 ///< waiting for a loss or metrics on the CPU
  recompilation,                            ///< waiting for a pass to be compiled again
  garbage_collection,                       ///< waiting for Python's collector
  offload,                                  ///< waiting for activations to leave or come back
  checkpoint,                               ///< waiting for a checkpoint to be copied or written
  launch_gap,                               ///< waiting for the host to launch the next kernel
  count_,
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::count_);

/// Waiting for a collective, an exchange or a transfer that is in flight along that axis.
constexpr Cause exposed(Axis axis) {
  return static_cast<Cause>(static_cast<std::size_t>(Cause::exposed_first) +
                            static_cast<std::size_t>(axis));
}

/// `launch_gap`, as JSON keys spell it.
const char* name_of(Cause cause);
/// "waiting for kernel launches", as a person reads it.
const char* title_of(Cause cause);

using CauseSeconds = std::array<double, kCauses>;

/// Time of kernels whose size was never measured, all on one side of the measured range.
struct OutsideSeconds {
  std::uint32_t name = 0;  ///< index into Timeline::names: "GEMM k < 256"
  double seconds = 0;
};
inline constexpr std::uint32_t kInRange = 0xffffffff;  ///< the name of no side

/// storage: writes in the background, which nobody waits for at once.
enum class RowKind : std::uint8_t { compute, host, communication, copy, loader, storage };

struct Row {
  std::string name;  ///< "compute", "data gather", "loader 3"
  RowKind kind = RowKind::compute;
  std::optional<Axis> axis{};  ///< communication: what reports count it under
};

inline constexpr std::int32_t kNoSpan = -1;

struct Span {
  double arrival = 0;  ///< when the span's row is free and the span was launched
  double start = 0;
  double end = 0;
  std::uint32_t name = 0;          ///< index into Timeline::names
  std::int32_t blocker = kNoSpan;  ///< index into the same rank's spans
  std::int32_t mix = -1;  ///< >= 0: the work is Timeline::mixes[mix], the rest of it launch gaps
  double pace = 1;        ///< with a mix: how many times as long its times are
  std::int32_t micro_batch = -1;     ///< -1: belongs to the whole step
  std::uint32_t message = 0;         ///< point-to-point: same number at both ends; 0: none
  std::uint32_t operation = 0;       ///< communication: same number at all members; 0: none
  std::uint32_t outside = kInRange;  ///< one kernel: its side, an index into Timeline::names
  double contention = 0;             ///< compute: time lost to collectives beside it
  double bytes = 0;                  ///< communication and copies: payload of this rank
  std::uint16_t row = 0;             ///< index into RankTimeline::rows
  std::uint16_t step = 0;
  Cause cause = Cause::forward;  ///< names the time between start and end
  /// cause of the time between arrival and start, when somebody waits for it
  Cause wait_cause = Cause::sync_wait;
  bool sends = false;  ///< point-to-point: this end sends
};

/// Memory of a rank from `time` on.
struct MemoryPoint {
  double time = 0;
  double bytes = 0;
};

struct RankTimeline {
  int rank = 0;              ///< global rank of the representative
  int stage = 0;             ///< pipeline stage
  int multiplicity = 1;      ///< ranks that behave alike and that it stands for
  std::vector<int> members;  ///< all ranks that behave alike, itself included
  /// ranks that it speaks for in what is said of all: its class, and a part of those that have no
  /// spans; 0: it is only shown
  double weight = 1;
  std::vector<Row> rows;
  std::vector<Span> spans;  ///< in order of their end
  std::vector<MemoryPoint> memory;
};

/// What the measured steps take a rank for itself, whatever the others do.
struct RankPace {
  int rank = 0;              ///< global rank of the representative
  int stage = 0;             ///< pipeline stage
  std::vector<int> members;  ///< all ranks that behave alike, itself included
  double work = 0;           ///< its kernels, without what collectives beside them cost
  double stall = 0;          ///< its host does nothing
};

struct Timeline {
  std::vector<std::string> names;
  std::vector<CauseSeconds> mixes;
  std::vector<std::vector<OutsideSeconds>> outside;  ///< by mix
  std::vector<RankTimeline> ranks;
  std::vector<RankPace> paces;    ///< of each class of ranks, also where its spans are not kept
  std::vector<double> step_ends;  ///< when the last rank finished each step, warm-up included
  int warmup = 0;                 ///< steps at the front that are not measured
  int measured_steps() const { return static_cast<int>(step_ends.size()) - warmup; }
  double step_start(std::size_t step) const { return step == 0 ? 0.0 : step_ends[step - 1]; }
};

}  // namespace stepsim
