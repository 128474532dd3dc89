// Asks for each stated algorithm whether some group is served by it.
#include "sim/plan/group/check_stated.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/ranges.h>

#include "sim/core/error.hpp"

namespace stepsim {

void check_stated_collectives(const Plan& plan, const Scenario& scenario) {
  const bool is_stated = std::ranges::any_of(kNames<CollectiveOp>, [&](const auto& named) {
    return choice_for(named.second, scenario.collectives).algorithm != "auto";
  });
  if (!is_stated) return;
  std::map<GroupShape, const Group*> shapes;
  for (const Group& group : plan.groups) {
    if (!is_transfer(group.channel) && group.shape.ranks > 1) shapes.emplace(group.shape, &group);
  }
  if (shapes.empty()) return;
  std::vector<std::string> refusals;
  for (const auto& [name, op] : kNames<CollectiveOp>) {
    const std::string& stated = choice_for(op, scenario.collectives).algorithm;
    if (stated == "auto") continue;
    const auto refusal = [&, op = op](const GroupShape& shape) {
      return decide({op, 1_MiB}, shape, scenario.cluster, scenario.collectives).refusal;
    };
    try {
      const bool serves = std::ranges::any_of(
          shapes, [&](const auto& entry) { return refusal(entry.first).empty(); });
      if (serves) continue;
      const auto& [shape, group] = *shapes.rbegin();
      refusals.push_back(
          fmt::format("collectives.{}: {} serves no group, it {} ({}, {} ranks on {} nodes)", name,
                      stated, refusal(shape), name_of(group->channel), shape.ranks, shape.nodes));
    } catch (const UserError& never_works) {
      refusals.emplace_back(never_works.what());
    }
  }
  if (!refusals.empty()) throw UserError(fmt::format("{}", fmt::join(refusals, "\n")));
}

}  // namespace stepsim
