// What data-parallel ranks share out, as a value: DDP and the stages of ZeRO.
//
// Each way of sharding is one file of sim/scenario/sharding/. Reader, rules, layers and planner ask
// a sharding what it shares out, never what it is called. Rajbhandari et al. 2020 (ZeRO), section
// 5; what each framework reduces when: deepspeedai/DeepSpeed docs/code-docs/source/memory.rst and
// pytorch/pytorch torch/distributed/fsdp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

struct Sharding {
  std::string_view name = "ddp";
  std::string_view description;
  bool shards_optimizer = false;
  /// true: each rank has a share of the gradients, which are reduced after every micro-batch
  bool shards_gradients = false;
  bool shards_parameters = false;   ///< each block is gathered before its passes
  bool scatters_gradients = false;  ///< a reduction leaves each rank its share, else all of them

  /// How many of the three are shared out: the more, the less memory and the more communication.
  constexpr int shards() const {
    return int{shards_optimizer} + int{shards_gradients} + int{shards_parameters};
  }
  /// Whether parameters are gathered whole once their shards were updated.
  constexpr bool gathers_updates() const { return shards_optimizer && !shards_parameters; }
  /// Whether ranks could as well get all reduced gradients and use their share
  /// (`all_reduce_gradients`).
  constexpr bool may_reduce_whole() const { return scatters_gradients && !shards_parameters; }

  constexpr bool operator==(const Sharding& other) const { return name == other.name; }
};

/// The registered one. Throws InternalError where there is none.
const Sharding& sharding_named(std::string_view name);

/// The names of all for which that holds, in order.
std::vector<std::string> shardings_that(bool (*holds)(const Sharding& sharding));

}  // namespace stepsim
