// One task on each rank of the group, none on the others.
#include "sim/plan/group/lone_collective.hpp"

#include "sim/plan/group/group_streams.hpp"
#include "sim/plan/group/groups.hpp"

namespace stepsim {
namespace {

Moves moves_of(CollectiveOp op) {
  if (op == CollectiveOp::all_to_all) return Moves::pairs;
  return op == CollectiveOp::shift ? Moves::neighbours : Moves::rings;
}

Program program_of_one(Channel channel) {
  Program program;
  program.rows = {{name_of(channel), RowKind::communication, axis_of(channel)}};
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
  if (is_transfer(whole.channel)) return whole;
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
  std::array<int, kChannels> none;
  none.fill(-1);
  Plan::GroupOf group_of(plan.program_of.size(), none);
  const bool pair = is_transfer(group.channel);
  if (pair) lone.programs.push_back(program_of_one(receiver_of(group.channel)));
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(group.ranks[i]);
    const bool receives = pair && i == 1;
    const Channel channel = receives ? receiver_of(group.channel) : group.channel;
    lone.program_of[rank] = receives ? 2 : 1;
    group_of[rank][static_cast<std::size_t>(channel)] = 0;
  }
  lone.groups = std::vector{std::move(group)};
  lone.group_of = std::move(group_of);
  lone.steps = 1;
  return lone;
}

}  // namespace stepsim
