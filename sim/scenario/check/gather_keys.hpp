// Which switches of gathers of parameters, and of reductions, go with what is sharded.
#pragma once

#include <array>

#include "sim/scenario/data_parallel.hpp"

namespace stepsim {

/// A switch of `parallelism.data`, and whether it says anything beside the other keys.
struct DataSwitch {
  const char* name;
  bool DataParallel::*value;
  bool (*applies)(const DataParallel& data);
};

inline constexpr DataSwitch kOverlapParamGather{
    "overlap_param_gather", &DataParallel::overlap_param_gather,
    [](const DataParallel& d) { return d.sharding.gathers_updates() && d.overlap; }};
inline constexpr DataSwitch kAlignParamGather{
    "align_param_gather", &DataParallel::align_param_gather,
    [](const DataParallel& d) { return d.overlap_param_gather; }};

/// The switches that only some shardings have; one that depends on another comes after it.
inline constexpr std::array kGatherKeys{
    kOverlapParamGather,
    kAlignParamGather,
    DataSwitch{"copy_out", &DataParallel::copy_out,
               [](const DataParallel& d) { return d.sharding.shards_parameters; }},
    DataSwitch{
        "all_reduce_gradients", &DataParallel::all_reduce_gradients,
        [](const DataParallel& d) { return d.sharding.may_reduce_whole() && !d.shard_degree; }},
};

/// Takes back what is about gathers and reductions that there are not.
constexpr void drop_idle_gathers(DataParallel& data) {
  for (const DataSwitch& key : kGatherKeys) data.*key.value &= key.applies(data);
}

}  // namespace stepsim
