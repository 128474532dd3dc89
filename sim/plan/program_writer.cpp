// Rows, launches, epochs and edges of a program.
#include "sim/plan/program_writer.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/error.hpp"

namespace stepsim {

std::uint16_t ProgramWriter::add_row(const std::string& name, RowKind kind,
                                     const std::string& group) {
  program_.rows.push_back({name, kind, group});
  rows_.emplace_back();
  return static_cast<std::uint16_t>(rows_.size() - 1);
}

TaskIndex ProgramWriter::add(Task task, const std::vector<TaskIndex>& after) {
  const auto index = static_cast<TaskIndex>(program_.tasks.size());
  task.step = step_;
  RowState& row = rows_[task.row];
  if (row.last != kNoTask) edge(row.last, index);
  for (const TaskIndex before : after) {
    if (before != kNoTask && before != row.last) edge(before, index);
  }
  row.last = index;
  program_.tasks.push_back(task);
  return index;
}

TaskIndex ProgramWriter::launch(Task task, const std::vector<TaskIndex>& after, double host_before,
                                double host_after) {
  offset_ += host_before;
  task.epoch = epoch_;
  task.launch_offset = offset_;
  offset_ += host_after;
  RowState& row = rows_[task.row];
  std::vector<TaskIndex> all = after;
  // The first task of a row in an epoch waits for the epoch; the others follow it on the row.
  if (row.epoch != epoch_) all.push_back(epoch_start_);
  row.epoch = epoch_;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return add(task, all);
}

TaskIndex ProgramWriter::wait_on_host(Task task, const std::vector<TaskIndex>& after) {
  task.kind = TaskKind::host_wait;
  const TaskIndex index = launch(task, after, 0);
  ++epoch_;
  epoch_start_ = index;
  offset_ = 0;
  rows_[task.row].epoch = epoch_;
  program_.epochs = epoch_ + 1;
  return index;
}

void ProgramWriter::add_memory(TaskIndex task, double bytes, bool at_start) {
  program_.memory.push_back({task, bytes, at_start});
}

TaskIndex ProgramWriter::first_on(std::uint16_t row, TaskIndex task) const {
  for (TaskIndex i = task; i < program_.tasks.size(); ++i) {
    if (program_.tasks[i].row == row) return i;
  }
  return task;
}

Program ProgramWriter::finish() {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  std::size_t next = 0;
  for (TaskIndex from = 0; from < program_.tasks.size(); ++from) {
    program_.tasks[from].first_successor = static_cast<std::uint32_t>(program_.successors.size());
    for (; next < edges_.size() && edges_[next].first == from; ++next) {
      program_.successors.push_back(edges_[next].second);
      std::uint8_t& needs = program_.tasks[edges_[next].second].needs;
      if (needs == std::numeric_limits<std::uint8_t>::max())
        throw InternalError("a task waits for too many others");
      ++needs;
    }
  }
  return std::move(program_);
}

}  // namespace stepsim
