// The plan: every task of every rank, and every edge that makes one wait for another.
//
// Ranks of one pipeline stage run the same program. A program is a list of tasks on a few rows; a
// row runs its tasks in order; all other waiting is an edge between two tasks of the same rank, or
// a group operation that starts when all its members have arrived. Kernels that nothing outside can
// touch are one task, a chain: on a rank whose host is ready to launch at h and whose GPU is free
// at c it ends at max(h + launched, c + compute), a (max, +) product of its kernels, exact
// (Baccelli, Cohen, Olsder, Quadrat 1992, chapter 2).
//
// The host launches tasks in the order of the program, ahead of the GPU, until a task it must wait
// for. Such tasks divide a program into epochs; a task is launched `launch_offset` after its epoch
// starts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/network.hpp"
#include "sim/core/shared.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/fault/affected.hpp"
#include "sim/plan/group/channel.hpp"
#include "sim/plan/group/link_windows.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct Kernel {
  std::uint32_t name = 0;  ///< index into Plan::names
  double seconds = 0;
  bool memory_bound = false;  ///< slowed by HBM traffic beside it, not by SMs taken
  double contention = 1;      ///< time beside a collective over what the SMs that it leaves explain
  Cause cause = Cause::forward;
  double host = 0;        ///< the host's time before its launch, besides that of launches
  double check = 0;       ///< time of kernels that look for NaN in its result; 0: none does
  double host_until = 0;  ///< the sum of `host` of the chain's kernels up to this one
  std::uint32_t outside = kInRange;  ///< index into Plan::names: the end of the range of the GPU's
                                     ///< constants that it has left
  /// The host's time and not the GPU's: a launch that blocks.
  bool is_launch() const { return cause == Cause::launch_gap; }
};

/// Kernels in a row, contracted.
struct Chain {
  std::vector<Kernel> kernels;
  double launch_each = 0;  ///< host time per kernel
  double launch = 0;       ///< host time of all launches, and of what comes before them
  double compute = 0;      ///< GPU time when the host is ahead
  double launched = 0;     ///< time from the first launch to the end when the GPU is idle
  CauseSeconds mix{};      ///< compute by cause
  std::vector<OutsideSeconds> outside;  ///< parts of compute in kernels outside the measured range
  double first_launch() const { return launch_each + kernels.front().host; }
};

/// Computes a chain's sums from its kernels.
void contract(Chain& chain);

/// What a communication task does when all members of its group have arrived.
struct Operation {
  std::uint32_t name = 0;
  Phases phases;
  Bytes bytes;              ///< payload, for the report
  double held_sms = 0;      ///< share of the GPU's SMs that its kernel holds from arrival to end
  double reserved_sms = 0;  ///< share of SMs that it holds and kernels beside it leave alone
  double memory_share = 0;  ///< share of the memory bandwidth that it uses while it moves data
  double device_share = 0;  ///< share of all of the device's time that it takes while it moves data
};

enum class TaskKind : std::uint8_t {
  chain,        ///< work = index into Plan::chains
  communicate,  ///< work = index into Plan::operations; on the group that the rank has for
                ///< `channel`
  host_wait,    ///< the host waits for the task's predecessors; starts a new epoch
  timer,        ///< takes `amount` seconds: a copy, a decode
  read,         ///< `amount` bytes over the links of one of the rank's lanes; work = read_work
};

/// Links that a rank's own rows use, apart from those of its groups.
enum class Lane : std::uint8_t {
  storage,
  page_cache,
  cores,           ///< CPU time; its bytes are parts of a core's second (input_links.hpp)
  host_to_device,  ///< copies of batches, where they share a PCIe slot with a NIC's traffic
  device_to_host,  ///< copies of checkpoints, where they share it, too
  checkpoint,      ///< writing them
  count_
};
inline constexpr std::size_t kLanes = static_cast<std::size_t>(Lane::count_);
/// Whether several of a rank's rows, its loaders, use the lane at the same time.
constexpr bool is_of_loaders(Lane lane) { return lane <= Lane::cores; }
/// Each reader, a row, has transfers of its own on a lane.
constexpr std::uint32_t read_work(Lane lane, std::size_t reader) {
  return static_cast<std::uint32_t>(reader * kLanes + static_cast<std::size_t>(lane));
}

using TaskIndex = std::uint32_t;
inline constexpr std::uint32_t kNotLaunched =
    0xffffffff;  ///< epoch of a task that no host launches

struct Task {
  double launch_offset = 0;  ///< host time since the start of the epoch
  double amount = 0;         ///< timer: seconds; read: bytes
  std::uint32_t name = 0;    ///< index into Plan::names
  std::uint32_t work = 0;
  std::uint32_t epoch = kNotLaunched;
  std::uint32_t first_successor = 0;  ///< into Program::successors, up to the next task's
  std::int32_t micro_batch = -1;
  std::uint16_t row = 0;
  std::uint16_t step = 0;
  std::uint8_t needs = 0;  ///< edges into it
  TaskKind kind = TaskKind::chain;
  Channel channel{};
  Cause cause = Cause::forward;         ///< what waiting for it, once started, is called
  Cause wait_cause = Cause::sync_wait;  ///< what waiting for it to start is called
  bool varies = false;  ///< true: the amount is multiplied by the plan's sample draws
};

/// What a pass takes at its start for its worst moment, and what of it it frees at its end.
struct MemoryStep {
  TaskIndex task = 0;
  double bytes = 0;
  bool at_start = true;
};

struct Program {
  int stage = 0;
  std::vector<Row> rows;
  std::vector<Task> tasks;
  std::vector<TaskIndex> successors;
  std::uint32_t epochs = 1;
  std::vector<TaskIndex> step_ends;  ///< the last task of each step
  std::vector<MemoryStep> memory;    ///< in order of task
  double resident_bytes = 0;         ///< all that passes do not take and free
  int readers = 0;                   ///< rows that may read at the same time

  std::uint32_t end_of_successors(TaskIndex task) const {
    return task + 1 < tasks.size() ? tasks[task + 1].first_successor
                                   : static_cast<std::uint32_t>(successors.size());
  }
};

/// A fluid over many links that moves at one rate on all of them: a pipeline advances as fast as
/// its slowest hop. A link stands as often as it is crossed.
struct Stream {
  double share = 1;  ///< share of the flow's bytes and rate
  std::vector<LinkId> links;
  bool operator==(const Stream&) const = default;
};

/// Ranks that communicate together, and the links that the patterns of their operations use.
struct Group {
  Channel channel{};       ///< point-to-point groups: the sender's
  std::vector<int> ranks;  ///< point-to-point: sender, receiver
  GroupShape shape;
  std::array<std::vector<Stream>, kPatterns> streams{};  ///< by pattern; empty: not in use
};

/// Durations of the tasks of some ranks, or of the operations of some groups, are multiplied by
/// draws.
struct Draws {
  Quantile quantile;
  RandomKey key;
  DrawPer per = DrawPer::call;
  std::vector<bool> touched;  ///< by rank, or by group

  /// The factor for a member's call with that number in that step.
  double operator()(std::size_t member, int step, std::uint64_t call) const {
    RandomKey of = key.with(member);
    if (per != DrawPer::run) of = of.with(static_cast<std::uint64_t>(step));
    if (per == DrawPer::call) of = of.with(call);
    return quantile(of.uniform());
  }
};

/// What loaders do for a batch is multiplied by the mean of its samples' draws.
struct SampleDraws {
  Quantile quantile;
  RandomKey key;
  int samples = 1;  ///< in a batch

  double operator()(std::size_t rank, TaskIndex task) const {
    const RandomKey of = key.with(rank).with(task);
    double sum = 0;
    for (int i = 0; i < samples; ++i)
      sum += quantile(of.with(static_cast<std::uint64_t>(i)).uniform());
    return sum / samples;
  }
};

struct Plan {
  explicit Plan(const Cluster& cluster, PlanCache* kept = nullptr)
      : network(cluster), cache(kept) {}
  Network network;
  std::vector<std::string> names;
  std::vector<Chain> chains;
  std::vector<Operation> operations;
  std::vector<Program> programs;
  std::vector<int> program_of;  ///< by rank
  Blocks blocks;                ///< groups are there that have a rank of the first of them
  using GroupOf = std::vector<std::array<int, kChannels>>;
  Shared<std::vector<Group>> groups;
  Shared<GroupOf> group_of;                 ///< [place in the first block][channel]; -1: none
  std::vector<LinkWindow> windows;          ///< when links are slow
  std::optional<Draws> kernel_draws;        ///< by rank
  std::optional<Draws> collective_draws;    ///< by group
  std::optional<SampleDraws> sample_draws;  ///< on each rank that loads
  using Lanes = std::array<std::vector<LinkId>, kLanes>;
  std::vector<Lanes> lanes;  ///< by rank; empty: no rank has any
  std::array<std::optional<BytesPerSecond>, kLanes> lane_rates;  ///< the most that one reader gets
  EngineKind engine = EngineKind::exact;                         ///< what shares links
  int steps = 0;                                                 ///< warm-up included
  int warmup = 0;
  PlanCache* cache = nullptr;  ///< what its caller keeps from plan to plan (plan_cache.hpp)

  /// By channel, the groups of a rank of the first block; of another one's the ones like them.
  const std::array<int, kChannels>& groups_of(int rank) const {
    return group_of[blocks.index_of(rank)];
  }
  const Program& program(int rank) const {
    return programs[static_cast<std::size_t>(program_of[static_cast<std::size_t>(rank)])];
  }
};

/// Lays the ops of a scenario out on its ranks. Keeps a pointer to scenario.cluster. Throws
/// UserError when a name (schedule, topology, collective) is unknown.
Plan make_plan(const Scenario& scenario, const OpGraph& graph, const PlanOptions& options = {});
Plan make_plan(Scenario&& scenario, const OpGraph& graph, const PlanOptions& options = {}) = delete;

/// Throws UserError for what make_plan would refuse once it knows the groups, without a plan.
void check_groups(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
