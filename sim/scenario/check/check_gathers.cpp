// Keys about gathers and reductions that the scenario does not have.
#include "sim/scenario/check/check_gathers.hpp"

#include <fmt/format.h>

#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Megatron-LM asserts the same (megatron/training/arguments.py: overlap_param_gather asks for
/// use_distributed_optimizer and overlap_grad_reduce).
void check_beside_forward(const DataParallel& data, const KeyReports& keys) {
  const char* key = "parallelism.data.overlap_param_gather";
  if (!data.sharding.gathers_updates()) {
    keys.report(key,
                fmt::format("overlap_param_gather is about zero1 and zero2, but sharding is {}",
                            data.sharding.name),
                "leave it out");
  } else if (!data.overlap) {
    keys.report(key,
                "overlap_param_gather is about zero1 and zero2 that overlap, but overlap is "
                "false",
                "leave it out, or state overlap: true");
  }
}

}  // namespace

void check_gathers(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"framework", "parallelism.data.sharding", "parallelism.data.overlap",
                   "parallelism.data.shard_degree"}))
    return;
  const DataParallel& data = s.parallelism.data;
  DataParallel sound = data;
  drop_idle_gathers(sound);
  if (sound.overlap_param_gather != data.overlap_param_gather) check_beside_forward(data, keys);
  if (!data.overlap_param_gather && data.align_param_gather) {
    keys.report("parallelism.data.align_param_gather",
                "align_param_gather is about overlap_param_gather, which is false",
                "leave it out, or state overlap_param_gather: true");
  }
  if (sound.copy_out != data.copy_out && !default_data(s.framework).copy_out) {
    keys.report("parallelism.data.copy_out",
                fmt::format("copy_out is about zero3, but sharding is {}", data.sharding.name),
                "leave it out");
  }
  const bool prefetches = data.forward_prefetch && data.backward_prefetch != Prefetch::none;
  if (data.loop_copies && !(sound.loop_copies && s.training.scan_layers && prefetches)) {
    keys.report("parallelism.data.loop_copies",
                "loop_copies is about zero3 that gathers ahead, in a loop over layers",
                "leave it out, or state \"sharding: zero3\" and \"scan_layers: true\"");
  }
  if (sound.all_reduce_gradients != data.all_reduce_gradients &&
      !default_data(s.framework).all_reduce_gradients) {
    keys.report("parallelism.data.all_reduce_gradients",
                fmt::format("all_reduce_gradients is about zero1 without shard_degree, but {}",
                            data.sharding.may_reduce_whole()
                                ? "shard_degree is stated"
                                : fmt::format("sharding is {}", data.sharding.name)),
                "leave it out");
  }
}

}  // namespace stepsim
