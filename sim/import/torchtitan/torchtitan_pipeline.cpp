// Schedules by PyTorch's names, and how layers are dealt out to stages.
#include "sim/import/torchtitan/torchtitan_pipeline.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

struct NamedSchedule {
  const char* name;
  int chunks;  ///< virtual stages of a rank, where the file states no layers per stage
  const char* note = nullptr;  ///< what is simulated in its place
};

/// Schedules of pytorch/pytorch torch/distributed/pipelining/schedules.py.
const std::map<std::string, NamedSchedule> kSchedules = {
    {"1F1B", {"1f1b", 1}},
    {"DualPipeV", {"zb-v", 2, "ZBVZeroBubble, whose passes are not joined"}},
    {"GPipe", {"gpipe", 1}},
    {"Interleaved1F1B", {"interleaved-pytorch", 2}},
    {"InterleavedZeroBubble",
     {"interleaved-pytorch", 2, "Interleaved1F1B, with whole backward passes"}},
    {"LoopedBFS", {"interleaved-pytorch", 2, "Interleaved1F1B"}},
    {"ZBVZeroBubble", {"zb-v", 2}},
};

const NamedSchedule& schedule_of(Config& config, Draft& draft) {
  const std::string path = config.first_of(
      {"parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule"});
  const std::string name = config.text(path, "1F1B");
  std::vector<std::string> names;
  for (const auto& [known, schedule] : kSchedules) names.push_back(known);
  const auto found = kSchedules.find(name);
  if (found == kSchedules.end()) {
    config.report(path, fmt::format("{}: the schedule {} is not known here", path, name),
                  did_you_mean(name, names));
    config.problems().throw_if_any();
  }
  if (found->second.note != nullptr) draft.note("the schedule " + name, found->second.note);
  return found->second;
}

}  // namespace

std::vector<std::int64_t> torchtitan_layers(std::int64_t layers, std::int64_t stages,
                                            std::int64_t first, std::int64_t last) {
  const std::int64_t all = layers + first + last;
  std::vector<std::int64_t> dealt(static_cast<std::size_t>(stages), all / stages);
  for (std::int64_t i = 0; i < all % stages; ++i) ++dealt[static_cast<std::size_t>(i)];
  dealt.front() -= first;
  dealt.back() -= last;
  const bool all_have = std::ranges::all_of(dealt, [](auto n) { return n > 0; });
  return all_have ? dealt : std::vector<std::int64_t>{};
}

void write_torchtitan_pipeline(Config& config, std::int64_t layers, std::int64_t stages,
                               Draft& draft) {
  const NamedSchedule& schedule = schedule_of(config, draft);
  const auto less = [&](const char* key) {
    return config.has(key) ? config.count(key) : std::int64_t{1};
  };
  const std::int64_t first = less("parallelism.pipeline_parallel_first_stage_less_layers");
  const std::int64_t last = less("parallelism.pipeline_parallel_last_stage_less_layers");
  const std::int64_t each = config.count("parallelism.pipeline_parallel_layers_per_stage", 1);
  const std::int64_t all = layers + first + last;
  std::int64_t chunks = schedule.chunks;
  if (each > 0 && chunks > 1) chunks = std::max<std::int64_t>((all + each - 1) / each / stages, 1);
  std::vector<std::string> e{fmt::format("stages: {}", stages),
                             fmt::format("schedule: {}", schedule.name)};
  if (chunks > 1) e.push_back(fmt::format("chunks: {}", chunks));
  // 1F1B and GPipe wait for what they send; the others are lists of actions that do not.
  if (chunks == 1) e.emplace_back("overlap_p2p: false");
  const auto dealt = torchtitan_layers(layers, stages * chunks, first, last);
  if (!dealt.empty()) e.push_back(fmt::format("layers: [{}]", fmt::join(dealt, ", ")));
  draft.map("  pipeline", e);
}

void pass_over_torchtitan_pipeline(Config& config) {
  config.first_of({"parallelism.pipeline_parallel_schedule",
                   "experimental.pipeline_parallel_schedule",
                   "parallelism.pipeline_parallel_first_stage_less_layers",
                   "parallelism.pipeline_parallel_last_stage_less_layers",
                   "parallelism.pipeline_parallel_layers_per_stage"});
}

}  // namespace stepsim
