// The executor: counts edges down, lets ready tasks start, and moves groups through their
// operations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/board.hpp"
#include "sim/engine/chain_run.hpp"
#include "sim/engine/recorder.hpp"
#include "sim/engine/simulate.hpp"

namespace stepsim {

class Executor {
 public:
  Executor(const Plan& plan, const Folding& folding, const SimulateOptions& options);

  /// Runs to the end. Throws SimulationError when ranks are left waiting.
  Simulation run();

 private:
  friend std::string describe_deadlock(const Executor& executor);
  static constexpr TaskIndex kNoTask = 0xffffffff;

  struct RankState {
    const FoldedRank* folded = nullptr;
    const Program* program = nullptr;
    std::vector<std::uint8_t> needs;       // edges not yet satisfied, by task
    std::vector<double> epoch_start;       // when the host began each epoch
    std::vector<std::int32_t> epoch_span;  // recorded: the host_wait that began it
    Taken taken;                           // by the operations in flight
    int in_flight = 0;                     // operations that take something
    TaskIndex running = kNoTask;           // the chain on the compute row
    Chain varied;                          // the running chain's kernels with their jitter
    ChainRun chain;
    std::uint32_t schedule = 0;  // counts its dates of ending; an older one no longer holds
    std::size_t left = 0;        // tasks not finished
    std::size_t next_step_end = 0;
    std::optional<Recorder> recorder;
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

  void record(const std::map<int, const FoldedRank*>& representatives);
  void finish(std::uint32_t rank, TaskIndex task, double date);
  void ready(std::uint32_t rank, TaskIndex task, double date, std::int32_t blocker);
  const Chain& chain_of(std::uint32_t rank, TaskIndex task);
  void start_chain(std::uint32_t rank, TaskIndex task, double date, std::int32_t blocker);
  void schedule_end(std::uint32_t rank);
  void finish_chain(std::uint32_t rank, double date);
  void take(std::uint32_t rank, const Taken& more, double date);
  void release(std::uint32_t rank, const Operation& operation, double date);
  void change_speed(std::uint32_t rank, double date, const Taken& taken);
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
  Board board_;
  std::vector<RankState> ranks_;
  std::vector<GroupState> groups_;
  std::vector<double> step_ends_;
  int running_ = 0;  // ranks with tasks left
  std::uint32_t operations_ = 0;
  std::int64_t kernels_ = 0;
};

/// Who waits for whom, followed along the waits until it closes a circle.
std::string describe_deadlock(const Executor& executor);

}  // namespace stepsim
