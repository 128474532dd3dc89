// Names of modules, and what PEFT takes where nobody names any.
#include "sim/import/config/adapters.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim {
namespace {

const std::map<std::string_view, std::string> kLayers{
    {"q_proj", "linear_q"},     {"k_proj", "linear_k"},      {"v_proj", "linear_v"},
    {"o_proj", "linear_proj"},  {"gate_proj", "linear_fc1"}, {"up_proj", "linear_fc1"},
    {"down_proj", "linear_fc2"}};

std::vector<std::string> layers_of(const PeftAdapters& adapters, Draft& draft) {
  if (adapters.is_everywhere) return {"linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"};
  std::vector<std::string> layers;
  for (const std::string& module : adapters.modules) {
    const auto layer = kLayers.find(module);
    if (layer == kLayers.end())
      draft.note("adapters of " + module, "scenarios have none there");
    else if (std::ranges::find(layers, layer->second) == layers.end())
      layers.push_back(layer->second);
  }
  if (!layers.empty()) return layers;
  draft.assume({"layers with adapters", "q_proj and v_proj",
                adapters.modules.empty() ? "not stated; PEFT's choice for Llama and its like"
                                         : "none of those that are stated is known",
                "the modules that have one, as q_proj, k_proj, gate_proj"});
  return {"linear_q", "linear_v"};
}

}  // namespace

std::string lora_text(const PeftAdapters& adapters, Draft& draft) {
  return fmt::format("{{rank: {}, target_modules: [{}], dropout: {}}}", adapters.rank,
                     fmt::join(layers_of(adapters, draft), ", "), adapters.has_dropout);
}

}  // namespace stepsim
