// Compares what was recorded of a model with the files of models/.
#include "sim/import/recording/proposed_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim {
namespace {

constexpr const char* kState = "--model NAME";

/// Vocabularies are padded, to multiples of up to so many rows (Megatron-LM's 128 on 8 ranks).
constexpr std::int64_t kPadding = 1024;

/// What is not recorded agrees with everything.
bool agrees(std::int64_t seen, std::int64_t has) { return seen == 0 || seen == has; }
bool agrees(RecordedKind seen, RecordedKind has) {
  return seen == RecordedKind::unknown || seen == has;
}
bool agrees(const std::optional<bool>& seen, bool has) { return !seen || *seen == has; }

/// Gradients of a model's parameters are all that a step reduces, but for a loss or a norm.
bool agrees_in_size(double seen, std::int64_t parameters) {
  constexpr double kRest = 0.002;
  return seen == 0 ||
         (parameters > 0 && std::abs(seen / static_cast<double>(parameters) - 1) < kRest);
}

bool fits(const RecordedModel& seen, const Transformer& t) {
  if (!agrees(seen.kind, RecordedKind::transformer) || t.encoder_layers > 0 || t.vision)
    return false;
  const bool has_words = seen.vocabulary == 0 || (seen.vocabulary >= t.vocabulary &&
                                                  seen.vocabulary < t.vocabulary + kPadding);
  // As many heads of keys as of queries may be repeated ones.
  const std::int64_t kv_heads = seen.kv_heads == seen.heads ? 0 : seen.kv_heads;
  return has_words && agrees(seen.layers, t.layers) && agrees(seen.hidden, t.hidden) &&
         (t.experts || agrees(seen.ffn, t.ffn)) && agrees(seen.heads, t.heads) &&
         agrees(kv_heads, t.kv_heads) && agrees(seen.rms_norm, t.rms_norm) &&
         agrees(seen.gated_mlp, t.gated_mlp);
}

/// A stem, three convolutions a block, and one beside the first block of each stage.
bool fits(const RecordedModel& seen, const ResNet& r) {
  if (!agrees(seen.kind, RecordedKind::resnet)) return false;
  const std::int64_t blocks = std::accumulate(r.blocks.begin(), r.blocks.end(), std::int64_t{0});
  // The widths of grouped convolutions are others.
  const bool has_widths =
      std::ranges::any_of(seen.blocks, [](std::int64_t each) { return each > 0; });
  if (has_widths && (r.groups > 1 || !std::ranges::equal(seen.blocks, r.blocks))) return false;
  return agrees(seen.convolutions, 1 + 3 * blocks + static_cast<std::int64_t>(r.blocks.size()));
}

bool fits(const RecordedModel& seen, const Mlp& m) {
  return seen.kind == RecordedKind::mlp && seen.hidden > 0 && agrees(seen.layers, m.layers) &&
         agrees(seen.hidden, m.width);
}

bool fits(const RecordedModel& seen, const Dlrm&) { return seen.kind == RecordedKind::dlrm; }

/// Whether enough was recorded to tell models apart.
bool is_known(const RecordedModel& seen) {
  return seen.layers > 0 || seen.hidden > 0 || seen.convolutions > 0 || seen.parameters > 0 ||
         seen.kind == RecordedKind::dlrm;
}

/// Plain convolutions are more usual than grouped ones.
bool is_grouped(const Model& model) {
  const auto* shape = std::get_if<ResNet>(&model.shape);
  return shape != nullptr && shape->groups > 1;
}

/// The known models that agree with the recording, the one with the fewest parameters first.
std::vector<Model> models_that_fit(const RecordedModel& seen, int split, const Library& library) {
  std::vector<Model> found;
  for (const std::string& name : names_in("models", library)) {
    Model model = load_model(name, library);
    const bool has_size = agrees_in_size(seen.parameters * split, model.published_parameters);
    if (has_size && std::visit([&](const auto& shape) { return fits(seen, shape); }, model.shape)) {
      model.name = name;
      found.push_back(std::move(model));
    }
  }
  std::ranges::stable_sort(found, {}, [](const Model& model) {
    return std::pair{is_grouped(model), model.published_parameters};
  });
  return found;
}

/// "12 layers, width 768, 124,439,808 parameters"
std::string seen_text(const RecordedModel& seen, int split) {
  std::vector<std::string> parts;
  const auto say = [&](const char* what, std::int64_t number) {
    if (number > 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  say("convolutions", seen.kind == RecordedKind::resnet ? seen.convolutions : 0);
  if (seen.kind == RecordedKind::transformer || seen.kind == RecordedKind::mlp) {
    say("layers", seen.layers);
    say("wide", seen.hidden);
    say("wide inside", seen.ffn);
    say("heads", seen.heads);
    say("words", seen.vocabulary);
  }
  if (const double gradients = seen.parameters * split; gradients >= 1)
    parts.push_back(fmt::format("{:.0f} gradients", std::floor(gradients)));
  if (seen.kind == RecordedKind::dlrm) parts.emplace_back("look-ups in tables");
  if (seen.has_experts) parts.emplace_back("experts, to which DeepEP hands tokens");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string transformer_text(const RecordedModel& seen) {
  Entries e{"name: recorded", fmt::format("layers: {}", seen.layers),
            fmt::format("hidden: {}", seen.hidden)};
  // Heads of 64 are those of GPT-2 and its like.
  e.push_back(fmt::format(
      "heads: {}", seen.heads > 0 ? seen.heads : std::max<std::int64_t>(seen.hidden / 64, 1)));
  if (seen.kv_heads > 0 && seen.kv_heads != seen.heads)
    e.push_back(fmt::format("kv_heads: {}", seen.kv_heads));
  if (seen.head_dim > 0 && seen.head_dim * seen.heads != seen.hidden)
    e.push_back(fmt::format("head_dim: {}", seen.head_dim));
  if (seen.ffn > 0) e.push_back(fmt::format("ffn: {}", seen.ffn));
  e.push_back(fmt::format("vocabulary: {}", seen.vocabulary));
  if (seen.positions > 0) e.push_back(fmt::format("positions: {}", seen.positions));
  const auto flag = [&](const char* key, const std::optional<bool>& value) {
    if (value) e.push_back(fmt::format("{}: {}", key, *value));
  };
  flag("gated_mlp", seen.gated_mlp);
  flag("rms_norm", seen.rms_norm);
  flag("bias", seen.bias);
  flag("dropout", seen.dropout);
  return fmt::format("{{{}}}", fmt::join(e, ", "));
}

std::string resnet_text(const RecordedModel& seen) {
  Entries e{"name: recorded", "kind: resnet",
            fmt::format("blocks: [{}]", fmt::join(seen.blocks, ", "))};
  if (seen.image > 0) e.push_back(fmt::format("image: {}", seen.image));
  if (seen.classes > 0) e.push_back(fmt::format("classes: {}", seen.classes));
  return fmt::format("{{{}}}", fmt::join(e, ", "));
}

bool has_blocks(const RecordedModel& seen) {
  const std::int64_t blocks =
      std::accumulate(std::begin(seen.blocks), std::end(seen.blocks), std::int64_t{0});
  return *std::ranges::min_element(seen.blocks) > 0 && seen.convolutions == 1 + 3 * blocks + 4;
}

/// What was recorded, as a model of its own; "" where that is too little.
std::string own_model(const RecordedModel& seen) {
  if (seen.kind == RecordedKind::transformer && seen.hidden > 0 && seen.layers > 0)
    return transformer_text(seen);
  if (seen.kind == RecordedKind::resnet && has_blocks(seen)) return resnet_text(seen);
  if (seen.kind == RecordedKind::mlp && seen.hidden > 0)
    return fmt::format("{{name: recorded, kind: mlp, layers: {}, width: {}}}", seen.layers,
                       seen.hidden);
  return "";
}

/// Known models of each kind.
std::string stand_in(const RecordedModel& seen) {
  if (seen.kind == RecordedKind::resnet) return "resnet50";
  if (seen.kind == RecordedKind::mlp)
    return fmt::format("{{base: mlp-20x4096, layers: {}}}", seen.layers);
  if (seen.kind == RecordedKind::dlrm) return "dlrm-criteo-1tb";
  if (seen.has_experts) return "deepseek-v3";  // DeepEP is its authors' library
  const std::string base = seen.rms_norm.value_or(false) ? "llama2-7b" : "gpt2";
  return seen.layers > 0 ? fmt::format("{{base: {}, layers: {}}}", base, seen.layers) : base;
}

RecordedKind kind_of(const Model& model) {
  constexpr RecordedKind kKinds[] = {RecordedKind::transformer, RecordedKind::mlp,
                                     RecordedKind::resnet, RecordedKind::dlrm};
  return kKinds[model.shape.index()];
}

std::int64_t positions_of(const Model& model) {
  const auto* shape = std::get_if<Transformer>(&model.shape);
  return shape == nullptr ? 0 : shape->positions;
}

}  // namespace

ProposedModel stated_model(const std::string& name, const Library& library) {
  if (name.starts_with('{')) return {name, RecordedKind::transformer, 0};
  const Model model = load_model(name, library);
  return {name, kind_of(model), positions_of(model)};
}

ProposedModel propose_model(const RecordedModel& seen, int split, const Library& library,
                            Draft& draft) {
  const auto assumed = [&](const ProposedModel& proposed, const std::string& why) {
    draft.assume({"model", proposed.model, why, kState});
    return proposed;
  };
  const std::string what = seen_text(seen, split);
  const std::vector<Model> fitting =
      is_known(seen) ? models_that_fit(seen, split, library) : std::vector<Model>{};
  if (!fitting.empty()) {
    std::string why = "it has what was recorded: " + what;
    if (fitting.size() > 1)
      why +=
          fmt::format("; {} fits, too{}", fitting[1].name,
                      fitting.size() > 2 ? fmt::format(", and {} more", fitting.size() - 2) : "");
    return assumed({fitting[0].name, kind_of(fitting[0]), positions_of(fitting[0])}, why);
  }
  const std::string own = own_model(seen);
  if (!own.empty()) {
    draft.assume({"model", "as recorded", fmt::format("no file of models/ has {}", what), kState});
    return {own, seen.kind, seen.positions};
  }
  const std::string other = stand_in(seen);
  const auto kind = seen.kind == RecordedKind::unknown ? RecordedKind::transformer : seen.kind;
  const bool is_gpt = other.find("gpt2") != std::string::npos;
  const std::int64_t positions = is_gpt ? positions_of(load_model("gpt2", library)) : 0;
  return assumed({other, kind, positions},
                 what.empty() ? "the recording says nothing of it"
                              : fmt::format("a stand-in; of the model is known: {}", what));
}

}  // namespace stepsim
