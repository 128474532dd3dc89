// Stages, chunks and layers (NVIDIA/Megatron-LM megatron/training/arguments.py and
// megatron/core/transformer/transformer_block.py, get_num_layers_to_build).
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/import/megatron/megatron.hpp"
#include "sim/import/megatron/megatron_hybrid.hpp"
#include "sim/import/megatron/pipeline_layout.hpp"

namespace stepsim {
namespace {

struct Cut {
  std::int64_t stages, chunks;
  std::int64_t embedding, loss;        ///< 1 where they count as a layer of their stage
  std::int64_t layers;                 ///< with these
  std::vector<std::int64_t> layout{};  ///< layers of each part, where they are stated
};

/// Parts of --pipeline-model-parallel-layout, as many on each stage. Throws UserError where it is
/// none.
std::vector<std::int64_t> layout_of(MegatronOptions& o, std::int64_t stages) {
  constexpr const char* kOption = "pipeline-model-parallel-layout";
  if (!o.has(kOption)) return {};
  const auto layers = layers_of_layout(o.text(kOption));
  if (!layers)
    o.refuse(kOption, o.shown(kOption) + " is no layout of a pipeline",
             "one E first, t, m, |, (...)*n and x*n, and one L last make one");
  const auto parts = static_cast<std::int64_t>(layers->size());
  if (parts % stages != 0)
    o.refuse(kOption, fmt::format("{} has {} parts, which are no multiple of {} stages",
                                  o.shown(kOption), parts, stages));
  return *layers;
}

/// Layers of multi-token prediction that the layout puts before the head's part.
void note_mtp(MegatronOptions& o, Draft& draft) {
  constexpr const char* kOption = "pipeline-model-parallel-layout";
  if (!o.has(kOption)) return;
  const std::string layout = o.text(kOption);
  const std::size_t last = layout.rfind('|');
  const std::size_t mtp = layout.find('m');
  if (mtp < last && last != std::string::npos)
    draft.note(o.shown(kOption), "multi-token prediction shares the head's part");
}

Cut cut_of(MegatronOptions& o) {
  Cut cut{.stages = o.degree("pipeline-model-parallel-size"),
          .chunks = o.degree("num-virtual-stages-per-pipeline-rank"),
          .embedding = o.is_on("account-for-embedding-in-pipeline-split") ? 1 : 0,
          .loss = o.is_on("account-for-loss-in-pipeline-split") ? 1 : 0,
          .layers = megatron_layers(o)};
  // Megatron-DeepSpeed's way to count embeddings as layers.
  const std::string method = o.text("pp-partition-method");
  if (method.find("transformer") != std::string::npos &&
      method.find("embedding") != std::string::npos)
    cut.embedding = cut.loss = 1;
  cut.layers += cut.embedding + cut.loss;
  cut.layout = layout_of(o, cut.stages);
  if (!cut.layout.empty()) {
    cut.chunks = static_cast<std::int64_t>(cut.layout.size()) / cut.stages;
    return cut;
  }
  if (!o.has("num-layers-per-virtual-pipeline-stage")) return cut;
  const std::int64_t each = o.degree("num-layers-per-virtual-pipeline-stage");
  if (cut.layers % (cut.stages * each) != 0)
    o.refuse("num-layers-per-virtual-pipeline-stage",
             fmt::format("--num-layers-per-virtual-pipeline-stage {} x {} stages does not divide "
                         "{} layers",
                         each, cut.stages, cut.layers));
  cut.chunks = cut.layers / cut.stages / each;
  return cut;
}

/// The layers of each stage; empty where they are dealt out evenly. Stages that are not stated
/// share the rest.
std::vector<std::int64_t> layers_of_stages(MegatronOptions& o, const Cut& cut) {
  const bool first = o.has("decoder-first-pipeline-num-layers");
  const bool last = o.has("decoder-last-pipeline-num-layers");
  if (!first && !last && cut.embedding + cut.loss == 0) return {};
  std::vector<std::int64_t> layers(static_cast<std::size_t>(cut.stages), 0);
  if (first) layers.front() = o.integer("decoder-first-pipeline-num-layers", 0);
  if (last) layers.back() = o.integer("decoder-last-pipeline-num-layers", 0);
  const std::int64_t rest = cut.layers - layers.front() - layers.back();
  const std::int64_t others = cut.stages - (first ? 1 : 0) - (last ? 1 : 0);
  if (rest < 0 || (others == 0 ? rest : rest % others) != 0)
    o.refuse(first  ? "decoder-first-pipeline-num-layers"
             : last ? "decoder-last-pipeline-num-layers"
                    : "pipeline-model-parallel-size",
             fmt::format("{} layers do not divide among {} stages", rest, others));
  for (std::size_t i = first ? 1 : 0; i + (last ? 1 : 0) < layers.size(); ++i)
    layers[i] = rest / others;
  for (const std::int64_t each : layers) {
    if (each % cut.chunks != 0)
      o.refuse(
          o.has("num-virtual-stages-per-pipeline-rank") ? "num-virtual-stages-per-pipeline-rank"
                                                        : "num-layers-per-virtual-pipeline-stage",
          fmt::format("{} layers of a stage do not divide among its {} chunks", each, cut.chunks));
  }
  return layers;
}

/// The layers of each part of the model, in its order.
std::vector<std::int64_t> layers_of_parts(MegatronOptions& o, const Cut& cut) {
  if (!cut.layout.empty()) return cut.layout;
  const auto stages = layers_of_stages(o, cut);
  std::vector<std::int64_t> parts;
  if (stages.empty()) return parts;
  for (std::int64_t chunk = 0; chunk < cut.chunks; ++chunk) {
    for (const std::int64_t layers : stages) parts.push_back(layers / cut.chunks);
  }
  parts.front() -= cut.embedding;
  parts.back() -= cut.loss;
  return parts;
}

}  // namespace

bool has_megatron_chunks(MegatronOptions& o) { return cut_of(o).chunks > 1; }

void write_megatron_pipeline(MegatronOptions& o, Draft& draft) {
  const Cut cut = cut_of(o);
  note_mtp(o, draft);
  std::vector<std::string> entries{fmt::format("stages: {}", cut.stages)};
  if (cut.chunks > 1) {
    entries.push_back(fmt::format("chunks: {}", cut.chunks));
    entries.emplace_back("schedule: interleaved");
    if (o.is_on("no-overlap-p2p-communication")) entries.emplace_back("overlap_p2p: false");
  }
  if (o.is_on("no-scatter-gather-tensors-in-pipeline"))
    entries.emplace_back("scatter_gather: false");
  const auto layers = layers_of_parts(o, cut);
  if (!layers.empty()) entries.push_back(fmt::format("layers: [{}]", fmt::join(layers, ", ")));
  draft.map("  pipeline", entries);
}

}  // namespace stepsim
