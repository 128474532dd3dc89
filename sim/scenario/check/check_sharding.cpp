// What data-parallel ranks share out, beside pipelines, experts and a model's parts; and keys about
// gathers and reductions that the sharding does not have.
#include <string>

#include <fmt/ranges.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/check/gather_keys.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// "zero1 and zero2"
std::string names_of(bool (*holds)(const Sharding& sharding)) {
  return fmt::format("{}", fmt::join(shardings_that(holds), " and "));
}

bool gathers_updates(const Sharding& sharding) { return sharding.gathers_updates(); }
bool shards_parameters(const Sharding& sharding) { return sharding.shards_parameters; }
bool may_reduce_whole(const Sharding& sharding) { return sharding.may_reduce_whole(); }

/// What stages would gather or reduce again and again is not modelled.
void check_stages(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const Sharding& sharding = s.parallelism.data.sharding;
  const Pipeline& pipeline = s.parallelism.pipeline;
  if (pipeline.stages == 1) return;
  const ScheduleNeeds* needs = needs_of(s, known);
  if (sharding.shards_parameters) {
    if (needs != nullptr && needs->joins == Joins::always)
      keys.report({"parallelism.data.sharding", "use zero1, or another schedule"},
                  "{} with {} is not modelled: gathers of one pass would come between those of the "
                  "pass that runs with it",
                  sharding.name, pipeline.schedule);
    return;
  }
  const bool takes_turns = needs == nullptr ? pipeline.chunks > 1 : needs->takes_turns;
  if (!sharding.shards_gradients || takes_turns) return;
  keys.report(
      {"parallelism.data.sharding",
       "use zero1, or an interleaved schedule, which reduces after each group of micro-batches"},
      "{} with {} pipeline stages {} would reduce the gradients again after every "
      "micro-batch",
      sharding.name, pipeline.stages,
      pipeline.chunks == 1 ? "of one chunk" : "and " + pipeline.schedule);
}

/// What only rank 0 has is in no group: nothing of it is shared out, and no table is in parts.
void check_bottom_mlp(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"model", "parallelism.bottom_mlp"}) || p.bottom_mlp == BottomMlp::each ||
      !std::holds_alternative<Dlrm>(s.model.shape))
    return;
  if (keys.sound({"parallelism.embedding"}) && p.embedding == EmbeddingSplit::row) {
    keys.report({"parallelism.embedding", "state embedding: table"},
                "each rank has rows of all tables, but bottom_mlp: first leaves tables to others");
  }
  if (p.data.sharding.shards() == 0) return;
  keys.report({"parallelism.data.sharding", "state sharding: ddp"},
              "{} shares out what all ranks hold, but bottom_mlp: first puts the bottom MLP on one",
              p.data.sharding.name);
}

void check_shard_degree(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!p.data.shard_degree ||
      !keys.sound({"parallelism.data.sharding", "parallelism.data.shard_degree"}))
    return;
  const int degree = *p.data.shard_degree;
  if (p.data.sharding.shards() == 0) {
    const auto others = shardings_that([](const Sharding& other) { return other.shards() > 0; });
    keys.report(
        {"parallelism.data.shard_degree", fmt::format("state sharding: {}", one_of(others))},
        "shard_degree {}, but {} shards nothing", degree, p.data.sharding.name);
  }
  if (!splits(s, keys)) return;
  if (s.data_parallel() % degree != 0) {
    return keys.report({"parallelism.data.shard_degree"}, "shard_degree {} does not divide data {}",
                       degree, s.data_parallel());
  }
  const int sharing = degree * p.context.degree;
  if (!keys.sound({"parallelism.expert.degree", "parallelism.expert.tensor"})) return;
  const int shares = p.expert.tensor.value_or(p.tensor);
  if (sharing * p.tensor % (shares * p.expert.degree) == 0) return;
  if (shares == p.tensor) {
    keys.report({"parallelism.data.shard_degree"},
                "shard_degree {} x context {} = {} is no multiple of expert degree {}: the "
                "ranks that share a copy need all experts",
                degree, p.context.degree, sharing, p.expert.degree);
  } else {
    keys.report(
        {"parallelism.data.shard_degree"},
        "shard_degree {} x context {} x tensor {} = {} is no multiple of expert tensor {} x "
        "degree {}: the ranks that share a copy need all experts",
        degree, p.context.degree, p.tensor, sharing * p.tensor, shares, p.expert.degree);
  }
}

/// Megatron-LM asserts as much (megatron/training/arguments.py: overlap_param_gather asks for
/// use_distributed_optimizer and overlap_grad_reduce).
void check_beside_forward(const DataParallel& data, const KeyReports& keys) {
  const char* key = "parallelism.data.overlap_param_gather";
  if (!data.sharding.gathers_updates()) {
    keys.report({key, "leave it out"}, "overlap_param_gather is about {}, but sharding is {}",
                names_of(gathers_updates), data.sharding.name);
  } else if (!data.overlap) {
    keys.report({key, "leave it out, or state overlap: true"},
                "overlap_param_gather is about {} that overlap, but overlap is false",
                names_of(gathers_updates));
  }
}

/// What a pass gives up forward is not there for the next one.
void check_kept(const DataParallel& data, const KeyReports& keys) {
  const char* key = "parallelism.data.reshard_after_backward";
  if (!data.sharding.shards_parameters) {
    keys.report({key, "leave it out"}, "{} gathers no parameters that could stay",
                data.sharding.name);
  } else if (data.reshard_after_forward != Reshard::none) {
    keys.report({key, "state reshard_after_forward: none, or leave it out"},
                "parameters that are given up after forward do not stay till the last backward");
  } else if (!data.no_sync) {
    keys.report({key, "state no_sync: true, or leave reshard_after_backward out"},
                "parameters that stay gathered have whole gradients, but no_sync: false scatters "
                "them after each micro-batch");
  }
}

}  // namespace

void check_sharding(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const DataParallel& data = s.parallelism.data;
  if (!data.reshard_after_backward &&
      keys.sound({"parallelism.data.sharding", "parallelism.data.reshard_after_forward",
                  "parallelism.data.no_sync"}))
    check_kept(data, keys);
  if (keys.sound({"parallelism.data.sharding", "parallelism.pipeline.stages"})) {
    if (data.broadcast_buffers && data.sharding.shards() > 0) {
      keys.report({"parallelism.data.broadcast_buffers", "leave it out"},
                  "broadcast_buffers is about ddp, but sharding is {}", data.sharding.name);
    }
    check_stages(s, known, keys);
  }
  if (keys.sound({"parallelism.data.sharding"})) check_bottom_mlp(s, keys);
  check_shard_degree(s, keys);
}

void check_gathers(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"framework", "parallelism.data.sharding", "parallelism.data.overlap",
                   "parallelism.data.shard_degree"}))
    return;
  const DataParallel& data = s.parallelism.data;
  DataParallel sound = data;
  drop_idle_gathers(sound);
  if (sound.overlap_param_gather != data.overlap_param_gather) check_beside_forward(data, keys);
  if (!data.overlap_param_gather && data.align_param_gather) {
    keys.report({"parallelism.data.align_param_gather",
                 "leave it out, or state overlap_param_gather: true"},
                "align_param_gather is about overlap_param_gather, which is false");
  }
  if (sound.copy_out != data.copy_out && !default_data(s.framework).copy_out) {
    keys.report({"parallelism.data.copy_out", "leave it out"},
                "copy_out is about {}, but sharding is {}", names_of(shards_parameters),
                data.sharding.name);
  }
  if (sound.all_reduce_gradients != data.all_reduce_gradients &&
      !default_data(s.framework).all_reduce_gradients) {
    keys.report(
        {"parallelism.data.all_reduce_gradients", "leave it out"},
        "all_reduce_gradients is about {} without shard_degree, but {}", names_of(may_reduce_whole),
        data.sharding.may_reduce_whole() ? "shard_degree is stated"
                                         : fmt::format("sharding is {}", data.sharding.name));
  }
}

}  // namespace stepsim
