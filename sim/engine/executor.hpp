// The executor: counts edges down, lets ready tasks start, and moves groups through their
// operations.
//
// Nothing depends on the order of events of one date: a chain's speed is changed once all of them
// have happened, and what operations take of a GPU adds up exactly. So a folded and an unfolded run
// are the same to the bit.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/system/work_done.hpp"
#include "sim/engine/board.hpp"
#include "sim/engine/chain_run.hpp"
#include "sim/engine/recorded_ranks.hpp"
#include "sim/engine/recorder.hpp"
#include "sim/engine/simulate.hpp"

namespace stepsim {

class Executor final : private BoardUser {
 public:
  Executor(const Plan& plan, const Folding& folding, const SimulateOptions& options);

  /// Runs to the end. Throws SimulationError when ranks are left waiting.
  Simulation run();

 private:
  friend std::string describe_deadlock(const Executor& executor);
  static constexpr TaskIndex kNoTask = 0xffffffff;
  /// Tasks whose needs of one rank stand together: a cache line. The line of the next rank with the
  /// same program follows, for ranks that go in step are at the same tasks.
  static constexpr std::size_t kBlock = 64;

  struct Recording {
    Recorder recorder;
    std::vector<std::int32_t> epoch_span;  // the host_wait that began each epoch
  };
  struct RankState {
    const FoldedRank* folded = nullptr;
    const Program* program = nullptr;
    std::uint8_t* first_needs = nullptr;  // edges not yet satisfied, of the first 64 tasks
    std::size_t needs_apart = 0;          // bytes from those of 64 tasks to those of the next 64
    double* epoch_start = nullptr;        // when the host began each epoch
    std::unique_ptr<Recording> recorded;  // absent: the rank is not recorded
    TaskIndex running = kNoTask;          // the chain on the compute row
    std::uint32_t schedule = 0;  // counts its dates of ending; an older one no longer holds
    bool has_end = false;        // its end is scheduled
    bool is_unsettled = false;   // the chain's end is to be worked out again
    std::uint32_t next_step_end = 0;
    std::size_t left = 0;  // tasks not finished
    double work = 0;       // of kernels in measured steps, without contention
    double stall = 0;      // of the host in measured steps
    Taken taken;           // by the operations in flight: what the chain runs under
    Taken taken_now;       // the same, with what has changed at the present date
  };
  struct Arrival {
    std::uint32_t rank;
    TaskIndex task;
  };
  struct GroupState {
    const FoldedGroup* folded = nullptr;
    std::vector<Arrival> arrived;
    std::size_t phase = 0;
    std::uint64_t started = 0;  // operations
    double factor = 1;          // factor on the durations of the running operation
    int pending = 0;            // parts of the phase still running
    bool running = false;
    bool shares = false;  // something else may use a link of it
  };

  void happen(Event event, double date) override;
  void settle(double date) override;
  void unsettle(std::uint32_t rank);
  void start_ranks();
  static std::int64_t tasks_of(const Plan& plan, const Folding& folding);
  static std::uint8_t& needs(const RankState& state, TaskIndex task) {
    return state.first_needs[task / kBlock * state.needs_apart + task % kBlock];
  }
  void record(const std::map<int, RecordedRank>& recorded);
  void finish(std::uint32_t rank, TaskIndex task, double date);
  void note_pace(std::uint32_t rank, TaskIndex task);
  std::vector<RankPace> paces(const std::vector<FoldedRank>& classes) const;
  void ready(std::uint32_t rank, TaskIndex task, double date, std::int32_t blocker);
  const Chain& chain_of(std::uint32_t rank, TaskIndex task);
  void start_chain(std::uint32_t rank, TaskIndex task, double date, std::int32_t blocker);
  void schedule_end(std::uint32_t rank);
  void finish_chain(std::uint32_t rank, double date);
  /// From this date on operations take `sign` times as much more.
  void take(std::uint32_t rank, const Taken& more, double sign);
  /// The task's amount with what is drawn for this call.
  double amount_of(std::uint32_t rank, TaskIndex task) const;
  void start_read(std::uint32_t rank, TaskIndex task, double date);
  void wait_on_host(std::uint32_t rank, TaskIndex task, double date);
  void arrive(std::uint32_t rank, TaskIndex task, double date);
  void start_operation(std::uint32_t group, double date);
  void start_phase(std::uint32_t group, double date);
  /// When a phase ends that shares no links.
  double end_of(const Phase& phase, const GroupState& state, double date) const;
  void end_operation(std::uint32_t group, double date);
  void run_phase(std::uint32_t group, double date);
  void phase_part_done(std::uint32_t group, double date);
  const Task& task_of(std::uint32_t rank, TaskIndex task) const {
    return ranks_[rank].program->tasks[task];
  }
  double launch_date(const RankState& state, const Task& task) const;
  void note_start(std::uint32_t rank, TaskIndex task, double arrival, double start,
                  std::int32_t blocker);

  const Plan& plan_;
  const Folding& folding_;
  SimulateOptions options_;
  std::unique_ptr<Board> board_;
  std::vector<Taken> held_;         // by operation: from a rank's arrival to the end
  std::vector<Taken> moves_;        // while data moves
  std::vector<Taken> all_;          // both
  std::vector<double> chain_work_;  // by chain: seconds of its kernels
  std::vector<std::uint8_t> needs_;
  std::vector<double> epoch_starts_;
  std::vector<RankState> ranks_;
  std::vector<ChainRun> running_chains_;  // by rank
  std::vector<Chain> varied_;             // by rank: the running chain's kernels with their jitter
  std::vector<std::uint32_t> unsettled_;
  std::vector<GroupState> groups_;
  std::vector<double> step_ends_;
  int running_ = 0;  // ranks with tasks left
  WorkCount count_;
  std::uint32_t operations_ = 0;
  std::int64_t kernels_ = 0;
};

/// Who waits for whom, followed along the waits until it closes a circle.
std::string describe_deadlock(const Executor& executor);

}  // namespace stepsim
