// Channels of dense parameters and of experts.
#include "sim/plan/pass/parameter_group.hpp"

namespace stepsim {

std::array<ParameterGroup, 2> parameter_groups(const StageShape& shape) {
  return {ParameterGroup{Channel::data, Channel::data_gather, Channel::data_across,
                         shape.of(Channel::data), shape.of(Channel::data_across), false},
          ParameterGroup{Channel::expert_data, Channel::expert_gather, Channel::expert_across,
                         shape.of(Channel::expert_data), shape.of(Channel::expert_across), true}};
}

}  // namespace stepsim
