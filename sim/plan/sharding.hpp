// What data parallelism shards, as values: DDP and the stages of ZeRO.
//
// Rajbhandari et al. 2020 (ZeRO), section 5; what each framework reduces when:
// deepspeedai/DeepSpeed docs/code-docs/source/memory.rst and pytorch/pytorch
// torch/distributed/fsdp.
#pragma once

#include <string_view>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct ShardingStrategy {
  std::string_view name;
  std::string_view description;
  Sharding kind;
  CollectiveOp reduce;  ///< how gradients are reduced, but for gradient_reduction()
  bool shards_optimizer;
  bool shards_gradients;
  bool shards_parameters;  ///< each block is gathered before its passes
};

const ShardingStrategy& strategy_of(Sharding kind);

/// How gradients are reduced: as the strategy says, or whole where the framework's zero1 does so.
CollectiveOp gradient_reduction(const DataParallel& data);

/// Share of a full copy that one of n ranks keeps.
constexpr double share(bool sharded, int ranks) { return sharded ? 1.0 / ranks : 1.0; }

}  // namespace stepsim
