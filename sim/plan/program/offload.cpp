// Copies and updates as tasks on rows of their own.
#include "sim/plan/program/offload.hpp"

#include <algorithm>

#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {

TaskIndex Offload::timed(std::uint16_t& row, const char* name, Seconds time,
                         const std::vector<TaskIndex>& after) {
  if (row == 0) row = rows_.writer().add_row(name, RowKind::copy);
  Task task;
  task.kind = TaskKind::timer;
  task.row = row;
  task.name = rows_.draft().name(name);
  task.cause = task.wait_cause = Cause::optimizer;
  task.amount = time.seconds();
  return rows_.writer().launch(task, after, launch_time(rows_.draft().scenario).seconds());
}

void Offload::after(Channel channel, std::uint32_t operation, TaskIndex task) {
  const Scenario& scenario = rows_.draft().scenario;
  if (!scenario.parallelism.data.offload_optimizer) return;
  const bool sharded = scenario.parallelism.data.sharding.shards_optimizer;
  for (const ParameterGroup& group : parameter_groups(rows_.shape())) {
    const bool across = group.same_shard.ranks > 1;
    if (channel != (across ? group.across : group.reduce)) continue;
    // What is summed across shards is a shard already.
    const Bytes part = rows_.draft().plan.operations[operation].bytes *
                       (across ? 1 : share(sharded, group.shape.ranks));
    timed(gradients_row_, "gradients to CPU", copy_time(scenario, part), {task});
    left_ += part;
  }
}

void Offload::update(double elements) {
  const Scenario& scenario = rows_.draft().scenario;
  std::vector<TaskIndex> before = rows_.reached();
  rows_.take_waits();
  const Bytes rest = std::max(Bytes{elements * gradient_bytes(scenario)} - left_, Bytes{0});
  before.push_back(timed(gradients_row_, "gradients to CPU", copy_time(scenario, rest), before));
  const OffloadedUpdate times = offloaded_update(scenario, elements);
  const TaskIndex updated = timed(cpu_row_, "CPU update", times.update, before);
  rows_.wait_for(timed(weights_row_, "weights to GPU", times.weights, {updated}));
  left_ = Bytes{0};
}

}  // namespace stepsim
