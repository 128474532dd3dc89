// Writes a program task by task: row order, launch times and edges in one place.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

class ProgramWriter {
 public:
  /// `launch`: host time of one launch.
  ProgramWriter(int stage, Seconds launch) : launch_(launch.seconds()) { program_.stage = stage; }

  std::uint16_t add_row(const std::string& name, RowKind kind, std::optional<Axis> axis = {});

  /// Appends a task to its row; it waits for the row's previous task and for `after`.
  TaskIndex add(Task task, const std::vector<TaskIndex>& after = {});

  /// Appends a task that the host launches, behind `host_before` seconds of its time. Launches of a
  /// chain's own pass behind it, as `host_after`.
  TaskIndex launch(Task task, const std::vector<TaskIndex>& after, double host_before,
                   double host_after = 0);

  /// The host stops until `after` are done (and itself has come that far); a new epoch starts.
  TaskIndex wait_on_host(Task task, const std::vector<TaskIndex>& after);

  double launch_seconds() const { return launch_; }
  void spend_on_host(double seconds) { offset_ += seconds; }
  void set_step(int step) { step_ = static_cast<std::uint16_t>(step); }
  void mark_step_end(TaskIndex task) { program_.step_ends.push_back(task); }
  /// What was written so far will be written that many times in all.
  void expect(std::size_t times);
  void add_memory(TaskIndex task, double bytes, bool at_start);
  Program& program() { return program_; }

  /// The last task on a row, or kNoTask.
  TaskIndex last_on(std::uint16_t row) const { return rows_[row].last; }
  /// The first task on the row that is not before `task`, or `task` itself where there is none.
  TaskIndex first_on(std::uint16_t row, TaskIndex task) const;
  static constexpr TaskIndex kNoTask = 0xffffffff;

  /// Sorts the edges into the program.
  Program finish();

 private:
  struct RowState {
    TaskIndex last = kNoTask;
    std::uint32_t epoch = 0;  ///< the one in which the row last got a launched task
  };
  void edge(TaskIndex from, TaskIndex to) { edges_.emplace_back(from, to); }

  Program program_;
  std::vector<RowState> rows_;
  std::vector<std::pair<TaskIndex, TaskIndex>> edges_;
  double launch_;
  std::uint32_t epoch_ = 0;
  TaskIndex epoch_start_ = kNoTask;
  double offset_ = 0;
  std::uint16_t step_ = 0;
};

}  // namespace stepsim
