// The DataLoader as edges.
#include "sim/plan/input.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stepsim {

InputRows::InputRows(Workshop& shop, ProgramWriter& writer, std::uint16_t host_row)
    : shop_(shop), writer_(writer), input_(*shop.scenario.data), host_row_(host_row) {
  copy_row_ = writer.add_row("copy", RowKind::copy);
  const int rows = std::max(input_.workers, 1);
  for (int i = 0; i < rows; ++i)
    loader_rows_.push_back(writer.add_row(fmt::format("loader {}", i), RowKind::loader));
  writer.program().readers = rows;
}

TaskIndex InputRows::load(const std::vector<TaskIndex>& after, int micro_batch) {
  const auto samples = static_cast<double>(shop_.scenario.training.micro_batch);
  Task task;
  task.row = loader_rows_[delivered_.size() % loader_rows_.size()];
  task.micro_batch = micro_batch;
  task.cause = task.wait_cause = Cause::batch_wait;
  std::vector<TaskIndex> before = after;
  if (input_.storage_bandwidth > BytesPerSecond{0}) {
    task.kind = TaskKind::read;
    task.name = shop_.name("read");
    task.amount = (input_.sample_size * samples).bytes();
    before = {writer_.add(task, before)};
  }
  task.kind = TaskKind::timer;
  task.name = shop_.name("decode");
  task.amount = ((input_.storage_latency + input_.decode) * samples).seconds();
  return writer_.add(task, before);
}

TaskIndex InputRows::fetch(int micro_batch) {
  Task wait;
  wait.row = host_row_;
  wait.micro_batch = micro_batch;
  wait.name = shop_.name("next batch");
  wait.cause = wait.wait_cause = Cause::batch_wait;
  TaskIndex loaded = 0;
  if (input_.workers == 0) {
    loaded = load({writer_.wait_on_host(wait, {})}, micro_batch);
  } else {
    const auto in_flight =
        static_cast<std::size_t>(input_.workers) * static_cast<std::size_t>(input_.prefetch);
    const std::size_t batch = delivered_.size();
    loaded = batch < in_flight ? load({}, micro_batch)
                               : load({delivered_[batch - in_flight]}, micro_batch);
  }
  delivered_.push_back(writer_.wait_on_host(wait, {loaded}));

  const GpuProfile& gpu = shop_.scenario.cluster.gpu;
  const BytesPerSecond rate =
      input_.h2d_bandwidth.value_or(input_.pinned ? gpu.copy_pinned : gpu.copy_pageable);
  const Bytes bytes =
      input_.device_bytes * static_cast<double>(shop_.scenario.training.micro_batch);
  Task copy;
  copy.kind = TaskKind::timer;
  copy.row = copy_row_;
  copy.micro_batch = micro_batch;
  copy.name = shop_.name("batch to GPU");
  copy.cause = copy.wait_cause = Cause::h2d;
  copy.amount = (bytes / rate).seconds();
  const TaskIndex copied = writer_.launch(copy, {}, writer_.launch_seconds());
  if (input_.pinned) return copied;
  // A copy from pageable memory returns only when it is done.
  wait.name = shop_.name("pageable copy");
  wait.cause = wait.wait_cause = Cause::h2d;
  writer_.wait_on_host(wait, {copied});
  return copied;
}

}  // namespace stepsim
