// One task on each rank of the group, none on the others.
#include "sim/plan/lone_collective.hpp"

#include "sim/plan/group_streams.hpp"

namespace stepsim {
namespace {

Moves moves_of(CollectiveOp op) {
  if (op == CollectiveOp::all_to_all) return Moves::pairs;
  return op == CollectiveOp::shift ? Moves::neighbours : Moves::rings;
}

Program program_of_one(Channel channel) {
  Program program;
  program.rows = {{name_of(channel), RowKind::communication, group_name_of(channel)}};
  Task task;
  task.kind = TaskKind::communicate;
  task.channel = channel;
  program.tasks = {task};
  program.step_ends = {0};
  return program;
}

}  // namespace

Group group_for(const Plan& plan, int group, CollectiveOp op) {
  const Group& whole = plan.groups[static_cast<std::size_t>(group)];
  Group laid_out{.channel = whole.channel, .ranks = whole.ranks};
  lay_out(laid_out, plan.network, moves_of(op));
  return laid_out;
}

Plan lone_collective(const Plan& plan, Group group, Phases phases) {
  Plan lone(plan.network.cluster());
  lone.names = {"collective"};
  lone.operations = {{.name = 0, .phases = std::move(phases), .bytes = {}}};
  lone.programs = {Program{}, program_of_one(group.channel)};
  lone.program_of.assign(plan.program_of.size(), 0);
  std::array<int, kChannels> alone;
  alone.fill(-1);
  lone.group_of.assign(plan.program_of.size(), alone);
  for (const int rank : group.ranks) {
    lone.program_of[static_cast<std::size_t>(rank)] = 1;
    lone.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(group.channel)] = 0;
  }
  lone.groups = {std::move(group)};
  lone.steps = 1;
  return lone;
}

}  // namespace stepsim
