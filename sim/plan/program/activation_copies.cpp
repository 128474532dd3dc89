// Copies as timers.
#include "sim/plan/program/activation_copies.hpp"

#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/program/optimizer.hpp"

namespace stepsim {

TaskIndex ActivationCopies::copy(std::uint16_t& row, const char* name, Bytes bytes,
                                 const std::vector<TaskIndex>& after) {
  if (row == 0) row = rows_.writer().add_row(name, RowKind::copy);
  const Scenario& scenario = rows_.draft().scenario;
  Task task;
  task.kind = TaskKind::timer;
  task.row = row;
  task.name = rows_.draft().name(name);
  task.cause = task.wait_cause = Cause::offload;
  task.amount = copy_time(scenario, bytes).seconds();
  return rows_.writer().launch(task, after, launch_time(scenario).seconds());
}

void ActivationCopies::leave(Bytes bytes) {
  layer_before_ = rows_.reached();
  const TaskIndex left = copy(out_, "activations to CPU", bytes, layer_before_);
  rows_.wait_for(last_out_);
  last_out_ = left;
  on_host_[pass_].push_back(left);
}

void ActivationCopies::come_back(Bytes bytes) {
  std::vector<TaskIndex> after = std::exchange(layer_before_, rows_.reached());
  std::vector<TaskIndex>& layers = on_host_[pass_];
  if (!layers.empty()) {
    after.push_back(layers.back());
    layers.pop_back();
  }
  rows_.wait_for(copy(back_, "activations to GPU", bytes, after));
}

}  // namespace stepsim
