// A table of torchtitan's models (pytorch/torchtitan torchtitan/models/*/__init__.py); those that
// models/ has stand there by that name.
#include "sim/import/torchtitan/torchtitan_models.hpp"

#include <algorithm>
#include <string_view>

namespace stepsim {
namespace {

struct TorchtitanModel {
  std::string_view name, flavor, model;
};

constexpr TorchtitanModel kModels[] = {
    {"deepseek_v3", "16B", "deepseek-v2-lite"},
    {"deepseek_v3", "236B", "deepseek-v2"},
    {"deepseek_v3", "671B", "deepseek-v3"},
    {"deepseek_v3", "debugmodel",
     "{name: deepseek_v3-debugmodel, layers: 6, hidden: 256, heads: 16, ffn: 1024, vocabulary: "
     "2048, gated_mlp: true, rms_norm: true, bias: false, tied_embeddings: false, dropout: false, "
     "experts: {count: 8, top_k: 3, ffn: 256, shared_ffn: 512, dense_layers: 1}, mla: {query_rank: "
     "0, kv_rank: 512, nope_dim: 128, rope_dim: 64, value_dim: 128}}"},
    {"gpt_oss", "120b", "gpt-oss-120b"},
    {"gpt_oss", "20b", "gpt-oss-20b"},
    {"llama2", "13B", "llama2-13b"},
    {"llama2", "70B", "llama2-70b"},
    {"llama2", "7B", "llama2-7b"},
    {"llama3", "405B", "llama3-405b"},
    {"llama3", "70B", "llama3-70b"},
    {"llama3", "8B", "llama3-8b"},
    {"llama3", "debugmodel",
     "{name: llama3-debugmodel, layers: 6, hidden: 256, heads: 16, ffn: 768, vocabulary: 2048, "
     "gated_mlp: true, rms_norm: true, bias: false, tied_embeddings: false, dropout: false}"},
    {"llama4", "17bx128e", ""},
    {"llama4", "17bx16e",
     "{name: llama4-17bx16e, layers: 48, hidden: 5120, heads: 40, kv_heads: 8, ffn: 16384, "
     "vocabulary: 202048, gated_mlp: true, rms_norm: true, bias: false, tied_embeddings: false, "
     "dropout: false, experts: {count: 16, top_k: 1, ffn: 8192, shared_ffn: 8192}}"},
    {"qwen3", "0.6B", "qwen3-0.6b"},
    {"qwen3", "1.7B", "qwen3-1.7b"},
    {"qwen3", "14B", "qwen3-14b"},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b"},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b"},
    {"qwen3", "32B", "qwen3-32b"},
    {"qwen3", "4B", "qwen3-4b"},
    {"qwen3", "8B", "qwen3-8b"},
};

/// A variant of another module that trains the same model: "simple_fsdp.llama3", "llama3_ft".
std::string family(const std::string& name) {
  std::string last = name.substr(name.find_last_of("./") + 1);
  for (const TorchtitanModel& known : kModels)
    if (last.starts_with(std::string(known.name) + "_")) return std::string(known.name);
  return last;
}

/// A flavor that differs in its attention alone: "8B_flex", "8B_varlen".
std::string size_of(const std::string& flavor) {
  for (const char* attention : {"_flex_attn", "_varlen_attn", "_flex", "_varlen"})
    if (flavor.ends_with(attention))
      return flavor.substr(0, flavor.size() - std::string_view(attention).size());
  return flavor;
}

}  // namespace

std::optional<std::string> torchtitan_model(const std::string& name, const std::string& flavor) {
  const auto* found = std::ranges::find_if(kModels, [&](const TorchtitanModel& model) {
    return model.name == family(name) && model.flavor == size_of(flavor);
  });
  if (found == std::end(kModels)) return std::nullopt;
  return std::string(found->model);
}

std::vector<std::string> torchtitan_names() {
  std::vector<std::string> names;
  for (const TorchtitanModel& model : kModels)
    if (names.empty() || names.back() != model.name) names.emplace_back(model.name);
  return names;
}

std::vector<std::string> torchtitan_flavors(const std::string& name) {
  std::vector<std::string> flavors;
  for (const TorchtitanModel& model : kModels)
    if (model.name == family(name)) flavors.emplace_back(model.flavor);
  return flavors;
}

}  // namespace stepsim
