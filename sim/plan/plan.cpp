// Laying a scenario out on its ranks: groups first, then one program for each kind of rank.
#include "sim/plan/plan.hpp"

#include <algorithm>
#include <map>

#include "sim/plan/check_stated.hpp"
#include "sim/plan/checkpoint.hpp"
#include "sim/plan/checkpoint_lanes.hpp"
#include "sim/plan/faults.hpp"
#include "sim/plan/groups.hpp"
#include "sim/plan/input_lanes.hpp"
#include "sim/plan/rank_order.hpp"
#include "sim/plan/segment.hpp"
#include "sim/plan/stage_program.hpp"

namespace stepsim {
namespace {

const Group* group_of(const Plan& plan, int rank, Channel channel) {
  const int group =
      plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  return group < 0 ? nullptr : &plan.groups[static_cast<std::size_t>(group)];
}

/// Everything that the program of a rank depends on; ranks of equal shape share one program.
StageShape shape_of(const Plan& plan, const Scenario& scenario, const Placement& placement,
                    const RankOrdering& order, int rank) {
  const auto shape = [&](Channel channel) {
    const Group* group = group_of(plan, rank, channel);
    return group == nullptr ? GroupShape{} : group->shape;
  };
  const RankPlace place = order.place_of(rank);
  bool needs_batch = false;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk)
    needs_batch |= placement.needs_batch({place.stage, chunk});
  StageShape result{.stage = place.stage,
                    .loads = scenario.data.has_value() && needs_batch && place.tensor == 0,
                    .writes = writes_of(plan, scenario, rank),
                    .tensor = shape(Channel::tensor),
                    .context = shape(Channel::context),
                    .expert = shape(Channel::expert),
                    .tables = shape(Channel::tables),
                    .data = shape(Channel::data),
                    .data_across = shape(Channel::data_across),
                    .expert_data = shape(Channel::expert_data),
                    .expert_across = shape(Channel::expert_across),
                    .model = shape(Channel::model),
                    .embedding = shape(Channel::embedding)};
  for (std::size_t i = 0; i < result.between_nodes.size(); ++i) {
    result.between_nodes[i] = shape(transfer_channel(i)).nodes > 1;
  }
  const auto& collection = scenario.host.garbage_collection;
  if (collection && !collection->aligned) result.collects_early = rank % collection->every;
  return result;
}

}  // namespace

const char* name_of(Channel channel) {
  switch (channel) {
    case Channel::tensor:
      return "tensor";
    case Channel::context:
      return "context";
    case Channel::expert:
      return "expert";
    case Channel::tables:
      return "tables";
    case Channel::data:
      return "data";
    case Channel::data_gather:
      return "data gather";
    case Channel::data_across:
      return "data across";
    case Channel::expert_data:
      return "expert data";
    case Channel::expert_gather:
      return "expert gather";
    case Channel::expert_across:
      return "expert across";
    case Channel::model:
      return "model";
    case Channel::embedding:
      return "embedding";
    case Channel::send_forward:
      return "send forward";
    case Channel::receive_forward:
      return "receive forward";
    case Channel::send_backward:
      return "send backward";
    case Channel::receive_backward:
      return "receive backward";
    case Channel::send_forward_up:
      return "send forward up";
    case Channel::receive_forward_up:
      return "receive forward up";
    case Channel::send_backward_up:
      return "send backward up";
    case Channel::receive_backward_up:
      return "receive backward up";
    case Channel::count_:
      break;
  }
  return "";
}

const char* group_name_of(Channel channel) {
  switch (channel) {
    case Channel::tensor:
      return "tensor";
    case Channel::context:
      return "context";
    case Channel::expert:
      return "expert";
    case Channel::tables:
      return "tables";
    case Channel::data:
    case Channel::data_gather:
    case Channel::data_across:
    case Channel::expert_data:
    case Channel::expert_gather:
    case Channel::expert_across:
      return "data";
    default:
      return "pipeline";
  }
}

Plan make_plan(const Scenario& scenario, const OpGraph& graph, const PlanOptions& options) {
  Plan plan(scenario.cluster);
  plan.warmup = scenario.run.warmup;
  plan.steps = scenario.run.warmup + scenario.run.steps;
  add_groups(plan, scenario, graph);
  check_stated_collectives(plan, scenario);
  Workshop shop{scenario, graph, plan, Names(plan.names), steps_that_save(scenario, options)};
  const Placement placement = placement_of(scenario);
  const RankOrdering order(scenario);
  const std::vector<Slowness> slowness = slowness_of_ranks(scenario, options);
  std::map<StageShape, int> programs;
  for (int rank = 0; rank < scenario.cluster.gpus(); ++rank) {
    StageShape shape = shape_of(plan, scenario, placement, order, rank);
    shape.slow = slowness[static_cast<std::size_t>(rank)];
    const auto [entry, is_new] = programs.emplace(shape, static_cast<int>(plan.programs.size()));
    if (is_new) plan.programs.push_back(stage_program(shop, entry->first));
    plan.program_of.push_back(entry->second);
  }
  InputLinks links;
  if (scenario.data) links = add_input(plan, scenario, options);
  if (std::find(shop.saves.begin(), shop.saves.end(), true) != shop.saves.end())
    add_checkpoint_lanes(plan, scenario, links.storage);
  add_faults(plan, scenario, options);
  return plan;
}

}  // namespace stepsim
