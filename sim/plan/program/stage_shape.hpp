// A kind of rank: all that its program depends on, besides the scenario.
#pragma once

#include <array>
#include <cstddef>

#include "sim/plan/fault/affected.hpp"
#include "sim/plan/group/channel.hpp"
#include "sim/plan/group/group_shape.hpp"

namespace stepsim {

/// The stage of a kind of rank, the shapes of its groups, and what else tells it apart.
struct StageShape {
  int stage = 0;
  bool loads = false;            ///< reads input itself
  std::array<bool, 2> writes{};  ///< checkpoints: of dense parameters, of experts
  std::array<GroupShape, kCollectiveChannels>
      groups{};  ///< by channel; one rank: it has no such group
  std::array<bool, kTransferChannels> between_nodes{};  ///< by transfer channel
  Slowness slow{};
  int collects_early = 0;  ///< steps before others that its Python collects garbage
  const GroupShape& of(Channel channel) const { return groups[static_cast<std::size_t>(channel)]; }
  GroupShape& of(Channel channel) { return groups[static_cast<std::size_t>(channel)]; }
  auto operator<=>(const StageShape&) const = default;
};

}  // namespace stepsim
