// Layers over the parts of a pipeline, and the schedule's own conditions.
#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

void check_uneven(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  const auto& list = p.pipeline.layers;
  const auto parts = static_cast<std::size_t>(p.pipeline.stages) *
                     static_cast<std::size_t>(parts_per_stage(s, known));
  if (list.size() != parts) {
    const std::string wanted =
        parts_per_stage(s, known) == p.pipeline.chunks
            ? fmt::format("stages {} x chunks {} = {}", p.pipeline.stages, p.pipeline.chunks, parts)
            : fmt::format("{} with {} stages cuts the model into {} parts", p.pipeline.schedule,
                          p.pipeline.stages, parts);
    return keys.report({"parallelism.pipeline.layers"}, "pipeline.layers has {} entries, but {}",
                       list.size(), wanted);
  }
  const std::int64_t sum = std::accumulate(list.begin(), list.end(), std::int64_t{0});
  if (sum == layers_of(s.model)) return;
  keys.report({"parallelism.pipeline.layers"},
              "pipeline.layers sums to {}, but the model has {} layers", sum, layers_of(s.model));
}

void check_layers(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"model", "parallelism.pipeline"})) return;
  const bool is_dealt_out = std::holds_alternative<Transformer>(s.model.shape) ||
                            std::holds_alternative<Mlp>(s.model.shape);
  if (!is_dealt_out && p.pipeline.stages > 1) return;  // refused
  // Chunks may be parts of one model or of several copies.
  if (p.pipeline.chunks > 1 && needs_of(s, known) == nullptr) return;
  if (!p.pipeline.layers.empty()) return check_uneven(s, known, keys);
  const std::int64_t parts = std::int64_t{p.pipeline.stages} * parts_per_stage(s, known);
  if (layers_of(s.model) % parts == 0) return;
  const std::string product = parts_per_stage(s, known) == 1
                                  ? fmt::format("stages {}", p.pipeline.stages)
                                  : fmt::format("stages {} x chunks {} = {}", p.pipeline.stages,
                                                parts_per_stage(s, known), parts);
  keys.report({keys.stated("parallelism.pipeline.stages") ? "parallelism.pipeline.stages"
                                                          : "parallelism.pipeline.chunks",
               layers_of(s.model) > parts ? "state pipeline.layers to split unevenly" : ""},
              "{} do not divide {} layers", product, layers_of(s.model));
}

void check_schedule(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"parallelism.pipeline.schedule", "parallelism.pipeline.chunks",
                   "parallelism.pipeline.stages"}))
    return;
  const ScheduleNeeds* stated = needs_of(s, known);
  if (stated == nullptr) return;
  const ScheduleNeeds& needs = *stated;
  const Pipeline& pipeline = p.pipeline;
  if (needs.least_chunks > 1 && (pipeline.chunks < needs.least_chunks || pipeline.stages < 2)) {
    return keys.report({"parallelism.pipeline.schedule"},
                       "{} needs at least 2 stages and {} chunks, but there are {} and {}",
                       pipeline.schedule, needs.least_chunks, pipeline.stages, pipeline.chunks);
  }
  if (pipeline.chunks > needs.most_chunks) {
    return keys.report({"parallelism.pipeline.chunks",
                        fmt::format("schedules with {}: {}", pipeline.chunks,
                                    fmt::join(schedules_with(known, pipeline.chunks), ", "))},
                       "chunks {}, but schedule {} runs {} per stage", pipeline.chunks,
                       pipeline.schedule, needs.most_chunks);
  }
  if (needs.overlaps && !pipeline.overlap_p2p && keys.sound({"parallelism.pipeline.overlap_p2p"})) {
    keys.report({"parallelism.pipeline.overlap_p2p"},
                "{} sends and receives beside compute: without overlap_p2p: true its stages "
                "would wait for each other",
                pipeline.schedule);
  }
  if (pipeline.batch_p2p_sync && pipeline.overlap_p2p &&
      keys.sound({"parallelism.pipeline.overlap_p2p", "parallelism.pipeline.batch_p2p_sync"})) {
    keys.report(
        {"parallelism.pipeline.batch_p2p_sync", "state overlap_p2p: false, or leave it out"},
        "batch_p2p_sync waits for transfers behind each pass, and overlap_p2p has them "
        "beside the next one");
  }
  if (needs.objection == nullptr || !splits(s, keys) ||
      !keys.sound({"training.global_batch", "training.micro_batch"}))
    return;
  const std::string objection = needs.objection(pipeline.stages, s.micro_batches());
  if (objection.empty()) return;
  keys.report({"parallelism.pipeline.schedule"}, "{} {}", pipeline.schedule, objection);
}

/// Megatron-LM repeats no exchange that runs beside another pass
/// (megatron/core/transformer/transformer_config.py, overlap_moe_expert_parallel_comm).
void check_repeated(const Scenario& s, const KeyReports& keys) {
  const Recomputation& again = s.training.recompute;
  const bool is_whole = again.kind == Recompute::full;
  if (s.framework != Framework::megatron || !keys.sound({"training.recompute"}) ||
      (!is_whole && !again.repeats(RecomputeModule::moe)))
    return;
  keys.report({is_whole ? "training.recompute.kind" : "training.recompute.modules",
               "state other modules, or parallelism.expert.overlap: false"},
              "megatron runs no exchanges beside another pass that are repeated in their own");
}

}  // namespace

/// Exchanges of tokens are hidden in pairs of passes, of which neither needs the other.
void check_pairs(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  const char* const path = "parallelism.expert.overlap";
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"parallelism.expert", "parallelism.pipeline", "parallelism.data.sharding"}) ||
      !p.expert.overlap.value_or(false))
    return;
  const ScheduleNeeds* needs = needs_of(s, known);
  if (needs == nullptr) return;
  check_repeated(s, keys);
  if (p.expert.degree == 1)
    return keys.report({path}, "with expert degree 1 there are no exchanges to overlap");
  if (p.data.sharding.shards_parameters) {
    return keys.report({path},
                       "{} gathers the blocks of one pass at a time: its passes do not "
                       "run in pairs",
                       p.data.sharding.name);
  }
  if (can_join(needs->joins, p.pipeline.stages)) return;
  keys.report({path, "use dualpipe, interleaved, or one stage with 1f1b"},
              "{} with {} stages has no pairs of passes that do not wait for each other",
              p.pipeline.schedule, p.pipeline.stages);
}

std::int64_t layers_of(const Model& model) {
  if (const auto* r = std::get_if<ResNet>(&model.shape))
    return std::accumulate(r->blocks.begin(), r->blocks.end(), std::int64_t{0});
  if (std::holds_alternative<Dlrm>(model.shape)) return 1;
  if (const auto* m = std::get_if<Mlp>(&model.shape)) return m->layers;
  return std::get<Transformer>(model.shape).layers;
}

const ScheduleNeeds* needs_of(const Scenario& s, const KnownNames& all) {
  const auto found =
      std::ranges::find(all.schedules, s.parallelism.pipeline.schedule, &KnownSchedule::name);
  return found == all.schedules.end() ? nullptr : &found->needs;
}

std::vector<std::string> schedules_with(const KnownNames& all, int chunks) {
  std::vector<std::string> names;
  for (const KnownSchedule& known : all.schedules) {
    if (known.needs.most_chunks >= chunks) names.push_back(known.name);
  }
  return names;
}

int parts_per_stage(const Scenario& s, const KnownNames& known) {
  const ScheduleNeeds* needs = needs_of(s, known);
  return std::max(s.parallelism.pipeline.chunks / (needs == nullptr ? 1 : needs->copies), 1);
}

void check_pipeline(const Scenario& scenario, const KnownNames& known, const KeyReports& keys) {
  check_layers(scenario, known, keys);
  check_schedule(scenario, known, keys);
}

}  // namespace stepsim
