// Changed plans: the same tasks, some of them faster.
#include "sim/plan/what_if.hpp"

#include <utility>

#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

void make_free(Operation& operation) {
  operation.phases.clear();
  operation.held_sms = operation.reserved_sms = 0;
  operation.memory_share = operation.device_share = 0;
}

}  // namespace

std::vector<Change> settings_of(const std::vector<std::string_view>& proposals,
                                const Scenario& scenario) {
  std::vector<Change> settings;
  for (const std::string_view name : proposals) {
    for (Change& change : Registry<Proposal>::find(name)->changes(scenario)) {
      if (!change.settings.empty()) settings.push_back(std::move(change));
    }
  }
  return settings;
}

Plan with_free_network(Plan plan) {
  for (Operation& operation : plan.operations) make_free(operation);
  return plan;
}

Plan with_free_input(Plan plan) {
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) {
      if (task.cause == Cause::h2d) task.amount = 0;
    }
  }
  return with_free_workers(std::move(plan));
}

Plan with_free_workers(Plan plan) {
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) {
      if (task.cause == Cause::batch_wait) task.amount = 0;
    }
  }
  for (Chain& chain : plan.chains) {
    if (chain.kernels.front().cause != Cause::batch_wait) continue;
    for (Kernel& kernel : chain.kernels) kernel.seconds = 0;  // decoding
    contract(chain);
  }
  return plan;
}

Plan with_free_checkpoints(Plan plan) {
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) {
      if (task.cause != Cause::checkpoint) continue;
      task.amount = 0;
      if (task.kind == TaskKind::communicate) make_free(plan.operations[task.work]);
    }
  }
  return plan;
}

Plan with_free_launches(Plan plan) {
  for (Chain& chain : plan.chains) {
    chain.launch_each = 0;
    for (Kernel& kernel : chain.kernels) {
      kernel.host = 0;
      if (kernel.is_launch()) kernel.seconds = 0;
    }
    contract(chain);
  }
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) task.launch_offset = 0;
  }
  return plan;
}

Plan without_bubble(Plan plan) {
  for (Program& program : plan.programs) {
    for (Task& task : program.tasks) {
      if (task.kind != TaskKind::communicate || !is_transfer(task.channel)) continue;
      task.kind = TaskKind::timer;
      task.amount = uncontended(plan.operations[task.work].phases).seconds();
    }
  }
  return plan;
}

Plan without_compute(Plan plan) {
  for (Chain& chain : plan.chains) {
    for (Kernel& kernel : chain.kernels) {
      if (!kernel.is_launch() && kernel.cause != Cause::batch_wait) kernel.seconds = 0;
    }
    contract(chain);
  }
  return plan;
}

Plan with_faster_gpus(Plan plan, double factor) {
  for (Chain& chain : plan.chains) {
    for (Kernel& kernel : chain.kernels) kernel.seconds /= kernel.is_launch() ? 1 : factor;
    contract(chain);
  }
  return plan;
}

}  // namespace stepsim
