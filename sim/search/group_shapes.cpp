// Groups of each kind, one for each stage.
#include "sim/search/group_shapes.hpp"

#include <algorithm>

#include "sim/plan/group/members.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
GroupShape GroupShapes::shape_of(std::vector<int> ranks) const {
  if (ranks.size() < 2) return {};
  std::ranges::sort(ranks);
  Group group{.ranks = std::move(ranks)};
  lay_out(group, network_, Moves::none);
  return group.shape;
}

const SplitShapes& GroupShapes::of(const Scenario& scenario, const Strategy& s) {
  const int copies = s.schedule->needs.copies;
  const auto key = std::tuple(s.gpus, s.tensor, s.context, s.stages, s.expert, s.expert_tensor,
                              copies, s.shard_degree);
  const auto found = known_.find(key);
  return found != known_.end() ? found->second : known_.emplace(key, made(scenario)).first->second;
}

SplitShapes GroupShapes::made(const Scenario& s) const {
  const Parallelism& p = s.parallelism;
  const Placement placement = placement_of(s);
  const Split split{s, RankOrdering(s), placement};
  SplitShapes shapes;
  for (int stage = 0; stage < p.pipeline.stages; ++stage) {
    const bool has_experts = expert_mesh(s).is_own();
    Ranks data, expert, expert_tensor, expert_data;
    for (const int holder : placement.holders(stage)) {
      const Ranks ranks = holders_of(0, holder, s);
      data.insert(data.end(), ranks.begin(), ranks.end());
      if (!has_experts) continue;
      const Ranks first = expert_holders(s, holder).front().front();
      expert_data.insert(expert_data.end(), first.begin(), first.end());
    }
    // What is sharded is shared out among neighbours; what passes between copies comes on top.
    for (Ranks* holders : {&data, &expert_data})
      holders->resize(holders->size() / static_cast<std::size_t>(s.shard_groups()));
    if (has_experts) {
      const auto shares = expert_holders(s, stage);
      for (const Ranks& part : shares.front()) expert.push_back(part.front());
      for (const auto& parts : shares) expert_tensor.push_back(parts.front().front());
    }
    StageShape groups;
    for (std::size_t i = 0; i < kPassAxes; ++i)
      groups.groups[i] = shape_of(split.order.along(static_cast<Axis>(i), {.stage = stage}));
    groups.of(channel_along(Axis::expert)) = shape_of(expert);
    groups.of(channel_along(Axis::expert_tensor)) = shape_of(expert_tensor);
    groups.of(Channel::data) = shape_of(data);
    groups.of(Channel::expert_data) = shape_of(expert_data);
    if (std::ranges::find(shapes.groups, groups) == shapes.groups.end())
      shapes.groups.push_back(groups);
    const int next = (stage + 1) % p.pipeline.stages;
    shapes.hop_out.push_back(network_.node_of(split.order.rank_at({.stage = stage})) !=
                             network_.node_of(split.order.rank_at({.stage = next})));
  }
  return shapes;
}

}  // namespace stepsim
