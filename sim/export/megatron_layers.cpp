// Tries the ways in which Megatron-LM deals out layers
// (megatron/core/transformer/transformer_block.py, get_num_layers_to_build, and
// megatron/core/transformer/pipeline_parallel_layer_layout.py).
#include "sim/export/megatron_layers.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim {
namespace {

using Layers = std::vector<std::int64_t>;

/// Layers of a chunk on each stage; nothing where chunks differ.
std::optional<Layers> layers_of_chunk(const Layers& parts, const Pipeline& pipeline) {
  const auto stages = static_cast<std::size_t>(pipeline.stages);
  if (parts.size() != stages * static_cast<std::size_t>(pipeline.chunks)) return std::nullopt;
  for (std::size_t i = stages; i < parts.size(); ++i)
    if (parts[i] != parts[i - stages]) return std::nullopt;
  return Layers(parts.begin(), parts.begin() + pipeline.stages);
}

bool is_even(const Layers& layers) {
  return std::ranges::all_of(layers, [&](std::int64_t each) { return each == layers.front(); });
}

/// First and last stage apart from the others, which are alike.
std::optional<MegatronLayers> by_ends(const Layers& layers, std::int64_t chunks) {
  const Layers middle(layers.begin() + 1, layers.end() - (layers.size() > 2 ? 1 : 0));
  if (!is_even(middle)) return std::nullopt;
  MegatronLayers found;
  if (layers.front() != middle.front()) found.first = layers.front() * chunks;
  if (layers.back() != middle.front()) found.last = layers.back() * chunks;
  return found;
}

/// All parts in their order: E the embedding, t a layer, m one of multi-token prediction, L the head
/// with its loss.
std::string layout_of(const Layers& parts, std::int64_t mtp_layers) {
  std::vector<std::string> texts;
  for (const std::int64_t layers : parts)
    texts.push_back(layers > 0 ? fmt::format("t*{}", layers) : std::string());
  if (mtp_layers > 0) texts.back() += fmt::format("m*{}", mtp_layers);
  return fmt::format("E{}L", fmt::join(texts, "|"));
}

}  // namespace

MegatronLayers megatron_layers(const Pipeline& pipeline, std::int64_t mtp_layers) {
  if (pipeline.layers.empty()) return {};
  // Options that count layers have no parts without any.
  if (std::ranges::find(pipeline.layers, 0) != pipeline.layers.end())
    return {.layout = layout_of(pipeline.layers, mtp_layers)};
  const auto plain = layers_of_chunk(pipeline.layers, pipeline);
  if (plain)
    if (const auto found = by_ends(*plain, pipeline.chunks)) return *found;
  for (const auto& [embedding, loss] : {std::pair{true, true}, {true, false}, {false, true}}) {
    Layers parts = pipeline.layers;
    parts.front() += embedding ? 1 : 0;
    parts.back() += loss ? 1 : 0;
    const auto counted = layers_of_chunk(parts, pipeline);
    if (counted && is_even(*counted)) return {.embedding = embedding, .loss = loss};
  }
  return {.layout = layout_of(pipeline.layers, mtp_layers)};
}

}  // namespace stepsim
