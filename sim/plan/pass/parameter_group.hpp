// Parameters that the same ranks hold, and the groups that reduce and gather them.
#pragma once

#include <array>

#include "sim/plan/program/stage_shape.hpp"

namespace stepsim {

/// The parameters of a rank's experts, or all others.
struct ParameterGroup {
  Channel reduce, gather, across;
  GroupShape shape;       ///< ranks that share one copy of what is sharded
  GroupShape same_shard;  ///< ranks that hold the same shard of its copies
  bool expert;
  bool is_alone() const { return shape.ranks == 1 && same_shard.ranks == 1; }
};

/// All others, then experts.
inline std::array<ParameterGroup, 2> parameter_groups(const StageShape& shape) {
  return {ParameterGroup{Channel::data, Channel::data_gather, Channel::data_across,
                         shape.of(Channel::data), shape.of(Channel::data_across), false},
          ParameterGroup{Channel::expert_data, Channel::expert_gather, Channel::expert_across,
                         shape.of(Channel::expert_data), shape.of(Channel::expert_across), true}};
}

}  // namespace stepsim
