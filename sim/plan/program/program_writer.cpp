// Rows, launches, epochs and edges of a program.
#include "sim/plan/program/program_writer.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "sim/core/error.hpp"

namespace stepsim {

std::uint16_t ProgramWriter::add_row(const std::string& name, RowKind kind,
                                     std::optional<Axis> axis) {
  program_.rows.push_back({name, kind, axis});
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

void ProgramWriter::expect(std::size_t times) {
  program_.tasks.reserve(program_.tasks.size() * times);
  edges_.reserve(edges_.size() * times);
}

TaskIndex ProgramWriter::launch(Task task, const std::vector<TaskIndex>& after, double host_before,
                                double host_after) {
  offset_ += host_before;
  task.epoch = epoch_;
  task.launch_offset = offset_;
  offset_ += host_after;
  RowState& row = rows_[task.row];
  // The first task of a row in an epoch waits for the epoch; the others follow it on the row.
  if (row.epoch != epoch_ && epoch_start_ != kNoTask)
    edge(epoch_start_, static_cast<TaskIndex>(program_.tasks.size()));
  row.epoch = epoch_;
  return add(task, after);
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

/// Edges were added in order of their ends, so that those from one task stay in that order when
/// they are dealt out by their beginnings.
Program ProgramWriter::finish() {
  const std::size_t tasks = program_.tasks.size();
  std::vector<std::uint32_t> next(tasks + 1, 0);  // where the next edge from a task goes
  for (const auto& [from, to] : edges_) ++next[from + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<TaskIndex> ends(edges_.size());
  for (const auto& [from, to] : edges_) ends[next[from]++] = to;
  edges_ = {};
  program_.successors.reserve(ends.size());
  auto end = ends.begin();
  for (TaskIndex from = 0; from < tasks; ++from) {
    program_.tasks[from].first_successor = static_cast<std::uint32_t>(program_.successors.size());
    const auto begin = end;
    end = ends.begin() + static_cast<std::ptrdiff_t>(next[from]);
    std::unique_copy(begin, end, std::back_inserter(program_.successors));
  }
  for (const TaskIndex to : program_.successors) {
    std::uint8_t& needs = program_.tasks[to].needs;
    if (needs == std::numeric_limits<std::uint8_t>::max())
      throw InternalError("a task waits for too many others");
    ++needs;
  }
  return std::move(program_);
}

}  // namespace stepsim
