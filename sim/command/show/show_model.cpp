// stepsim show model: what a model is, in one look.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/command/show.hpp"
#include "sim/core/overloaded.hpp"
#include "sim/core/source.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kSequence = 4096;  ///< tokens, where nobody states them
/// About as many as an image's edge has, where no model says it. An assumption, which the page
/// states: the tiles that InternVL cuts images into (arXiv 2404.16821, section 3.3).
constexpr std::int64_t kPixels = 448;
constexpr double kWeightBytes = 2;  ///< of a bf16 weight

// --- from an argument to a scenario

std::string with_config(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored)
             ? (std::filesystem::path(path) / "config.json").string()
             : path;
}

/// Whether a YAML file has the key of a scenario that says what is trained.
bool is_scenario(const std::string& path) {
  std::error_code ignored;
  if (path.ends_with(".json") || !std::filesystem::is_regular_file(path, ignored)) return false;
  const auto source = read_source(path);
  const std::string& text = source->text;
  return text.starts_with("model:") || text.find("\nmodel:") != std::string::npos;
}

/// One step on one GPU of one sample of that model.
Scenario scenario_around(const std::string& model, const ScenarioArgument& argument) {
  const Library library = library_for(argument.path);
  const Model read = load_model(model, library);
  std::vector<Override> overrides{{"model", model}};
  if (const auto* t = std::get_if<Transformer>(&read.shape); t != nullptr && !t->vision) {
    const std::int64_t length = t->positions > 0 ? std::min(t->positions, kSequence) : kSequence;
    overrides.push_back({"training.sequence_length", std::to_string(length)});
    if (t->tower) {
      const std::int64_t edge = t->tower->patch * t->tower->merge;
      const std::int64_t pixels = t->tower->image > 0 ? t->tower->image : kPixels / edge * edge;
      overrides.push_back({"training.images.height", std::to_string(pixels)});
      overrides.push_back({"training.images.width", std::to_string(pixels)});
    }
  }
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return parse_scenario("cluster: {gpu: h100}\ntraining: {global_batch: 1}\n", "show model",
                        library, overrides, known_names());
}

Scenario scenario_of(const ScenarioArgument& argument) {
  const std::string path = with_config(argument.path);
  return is_scenario(path) ? load(argument) : scenario_around(path, argument);
}

// --- what is shown

/// What one look at a model shows.
struct Card {
  std::string name;
  std::vector<std::string> layers;  ///< what it is built of
  double total = 0, active = 0, embedding = 0;
  double published = 0;
  std::string unit;  ///< of which FLOPs are counted: "token", "sample"
  std::string length;
  double forward = 0, attention = 0;  ///< FLOPs of a unit; attention is a part of forward
  double with_optimizer = 0;          ///< bytes
  std::string optimizer;
  std::string source;
  std::vector<std::string> notes;
};

std::string attention_of(const Transformer& t) {
  if (t.mla)
    return fmt::format("{} heads of latent attention (queries {}, keys and values {})", t.heads,
                       t.mla->query_rank, t.mla->kv_rank);
  std::string text =
      fmt::format("{} heads of {}, {} of keys and values", t.heads, t.head_dim, t.kv_heads);
  if (t.attention_gate) text += ", and gates behind them";
  if (t.sinks) text += ", with sinks";
  if (t.score_cap) text += ", capped scores";
  return text;
}

std::string delta_net_of(const GatedDeltaNet& d) {
  return fmt::format("{} heads of values, {} of queries and keys, of {} x {}{}", d.value_heads,
                     d.key_heads, d.key_dim, d.value_dim,
                     d.gate_rank > 0 ? ", a decay a channel" : "");
}

/// "36 gated delta nets (...), 12 of attention, 48 of experts".
std::string parts_of(const HybridLayers& h) {
  std::vector<std::string> parts;
  const auto add = [&](char kind, const std::string& what) {
    const auto count = std::ranges::count(h.pattern, kind);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  if (h.delta_net) add('G', fmt::format("gated delta nets ({})", delta_net_of(*h.delta_net)));
  add('M', fmt::format("mixers of Mamba-2 ({} heads of {}, states of {})", h.heads, h.head_dim,
                       h.state));
  add('*', "of attention");
  add('-', "MLPs");
  add('E', "of experts");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string positions_of(const Transformer& t) {
  if (t.diffusion && !t.diffusion->rotary) return "fixed positions";
  if (t.alibi) return "ALiBi";
  if (t.relative_positions > 0) return "relative positions";
  if (t.positions > 0) return fmt::format("{} learned positions", grouped(t.positions));
  if (t.hybrid && !t.hybrid->rotary) return "no positions";
  return t.has_yarn() ? fmt::format("rotary positions, by YaRN {} times as many", t.yarn_factor)
                      : "rotary positions";
}

std::string mlp_of(const Transformer& t, std::int64_t width) {
  return fmt::format("{} MLP of {}", t.gated_mlp ? "gated" : "plain", grouped(width));
}

std::string experts_of(const Transformer& t) {
  const Experts& e = *t.experts;
  std::string text =
      fmt::format("{} experts, {} a token, each a {}", e.count, e.top_k, mlp_of(t, e.ffn));
  if (e.bias) text += ", with biases";
  if (e.clamp > 0) text += fmt::format(", clamped at {}", e.clamp);
  if (e.shared_ffn > 0)
    text += fmt::format(", beside a shared one of {}{}", grouped(e.shared_ffn),
                        e.shared_gate ? " with a gate" : "");
  if (e.dense_layers > 0)
    text += fmt::format("; in the first {}a {}",
                        e.dense_layers == 1 ? "layer " : fmt::format("{} layers ", e.dense_layers),
                        mlp_of(t, t.ffn));
  return text;
}

std::string biases_of(const Transformer& t) {
  if (t.bias) return "biases";
  return t.qkv_bias ? "biases of queries, keys and values" : "no biases";
}

std::string tower_of(const VisionTower& v) {
  return fmt::format(
      "a tower of {} layers of width {} for patches of {} pixels, {} of them a token", v.layers,
      grouped(v.hidden), v.patch, v.merge * v.merge);
}

std::string ends_of(const Diffusion& d) {
  std::string text = fmt::format("latents: patches of {} numbers, {} predicted",
                                 grouped(d.patch_values()), grouped(d.patch_outputs()));
  if (d.classes > 0) text += fmt::format("; {} classes", grouped(d.classes));
  if (d.text)
    text += fmt::format("; {} tokens of text, {}", grouped(d.text->tokens),
                        d.cross() ? "attended to"
                                  : fmt::format("a stream of their own but for the last {} layers",
                                                d.text->single_layers));
  return text;
}

std::string ends_of(const Transformer& t) {
  if (t.diffusion) return ends_of(*t.diffusion);
  if (t.vision)
    return fmt::format("{} patches and {} classes", t.vision->patches(),
                       grouped(t.vision->classes));
  return fmt::format("vocabulary {}, head {}{}", grouped(t.vocabulary),
                     t.tied_embeddings ? "tied to the embedding" : "of its own",
                     t.logit_cap ? ", capped logits" : "");
}

std::string depths_of(const Transformer& t) {
  std::string text = fmt::format("{} more {} one token further", t.mtp_layers,
                                 t.mtp_layers == 1 ? "layer that predicts" : "layers that predict");
  if (t.hybrid) text += fmt::format(", of the parts {}", t.hybrid->mtp_pattern);
  return text;
}

std::vector<std::string> layers_of(const Transformer& t) {
  const std::string encoder =
      t.encoder_layers > 0 ? fmt::format("{} encoder and ", t.encoder_layers) : "";
  std::vector<std::string> texts{
      fmt::format("{}{} layers of width {}", encoder, t.layers, grouped(t.hidden)), attention_of(t),
      t.experts ? experts_of(t) : mlp_of(t, t.ffn),
      fmt::format("{}{}, {}{}, {}{}", t.rms_norm ? "RMSNorm" : "LayerNorm",
                  t.sandwich_norm ? " before and behind each part" : "", biases_of(t),
                  t.qk_norm ? ", norms of queries and keys" : "", positions_of(t),
                  t.causal ? "" : ", not causal")};
  if (t.hybrid) texts.insert(texts.begin() + 1, parts_of(*t.hybrid));
  if (t.mtp_layers > 0) texts.push_back(depths_of(t));
  texts.push_back(ends_of(t));
  if (t.tower) texts.push_back(tower_of(*t.tower));
  return texts;
}

std::vector<std::string> layers_of(const Mlp& m) {
  return {fmt::format("{} linear layers of width {}", m.layers, grouped(m.width))};
}

std::vector<std::string> layers_of(const ResNet& r) {
  return {
      fmt::format("stages of {} bottleneck blocks", fmt::join(r.blocks, ", ")),
      fmt::format("{} classes of images of {} x {} pixels", grouped(r.classes), r.image, r.image)};
}

std::vector<std::string> layers_of(const Dlrm& d) {
  return {fmt::format("{} tables of rows of {}", d.tables.size(), d.dim),
          fmt::format("MLPs of {} and {}", fmt::join(d.bottom, ", "), fmt::join(d.top, ", "))};
}

double active_of(const Model& model) {
  const auto* t = std::get_if<Transformer>(&model.shape);
  return t != nullptr ? active_parameter_count(*t) : parameter_count(model);
}

double embedding_of(const Model& model) {
  if (const auto* d = std::get_if<Dlrm>(&model.shape)) {
    double rows = 0;
    for (const std::int64_t table : d->tables) rows += static_cast<double>(table);
    return rows * static_cast<double>(d->dim);
  }
  const ParameterTally tally = parameter_tally(model);
  return tally.tokens + tally.positions + tally.head;
}

/// Bytes of optimizer state and master weights of all parameters.
double state_of(const Scenario& scenario, double parameters) {
  const Training& training = scenario.training;
  if (!updates_matrices(training)) return parameters * optimizer_bytes(training);
  const OpGraph graph = build(scenario);
  double matrices = 0;
  for (const bool expert : {false, true})
    matrices += elements_of(matrices_of(scenario, graph, graph.chain, expert));
  return (parameters - matrices) * optimizer_bytes(training) +
         matrices * (master_bytes(training) + matrix_moment_bytes(training));
}

/// FLOPs of the forward pass of one sample; a sample is all that the scenario computes.
ForwardFlops flops_of(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  ForwardFlops sum;
  for (const std::size_t index : graph.chain) {
    const ForwardFlops block = graph.blocks[index].forward_flops();
    sum.products += block.products;
    sum.attention += block.attention;
  }
  const double samples = static_cast<double>(scenario.training.micro_batch);
  return {sum.products * (1 / samples), sum.attention * (1 / samples)};
}

void count_flops(Card& card, Scenario scenario) {
  scenario.parallelism = {};
  const ForwardFlops sample = flops_of(scenario);
  const auto* t = std::get_if<Transformer>(&scenario.model.shape);
  const bool by_token = t != nullptr && !t->vision && t->encoder_layers == 0;
  const double units = by_token ? static_cast<double>(scenario.sequence_length()) : 1;
  card.unit = by_token ? "token" : "sample";
  if (t != nullptr) card.length = fmt::format("{} tokens", grouped(scenario.sequence_length()));
  if (const auto image = scenario.image_tokens())
    card.length += fmt::format(", {} of them of an image of {} x {} pixels", image->merged,
                               image->width, image->height);
  if (scenario.target_length() > 0)
    card.length += fmt::format(" and {} to predict", grouped(scenario.target_length()));
  card.attention = sample.attention.flops() / units;
  card.forward = sample.products.flops() / units + card.attention;
}

Card card_of(const Scenario& scenario) {
  const Model& model = scenario.model;
  Card card{.name = model.name,
            .layers = std::visit([](const auto& shape) { return layers_of(shape); }, model.shape),
            .total = parameter_count(model),
            .active = active_of(model),
            .embedding = embedding_of(model),
            .published = static_cast<double>(model.published_parameters),
            .optimizer = scenario.training.optimizer,
            .source = model.source,
            .notes = model.notes};
  card.with_optimizer = card.total * kWeightBytes + state_of(scenario, card.total);
  count_flops(card, scenario);
  return card;
}

// --- formats

/// "8,190,735,360 (8.19 billion)"
std::string count_text(double count) {
  std::string exact = grouped(std::llround(count));
  if (count < 1e6) return exact;
  const auto [scale, word] = count < 1e9    ? std::pair(1e6, "million")
                             : count < 1e12 ? std::pair(1e9, "billion")
                                            : std::pair(1e12, "trillion");
  return fmt::format("{} ({} {})", exact, three_digits(count / scale), word);
}

/// "17.6 GFLOP"
std::string flops_text(double flops) {
  const Figure figure = humanise(flops, "");
  return fmt::format("{} {}FLOP", figure.number, figure.unit.substr(0, figure.unit.find(' ')));
}

class Text {
 public:
  explicit Text(const Card& card) : card_(card) {
    out_ = fmt::format("{}\n", card.name);
    for (const std::string& layer : card.layers)
      row(layer == card.layers[0] ? "Layers" : "", layer);
    parameters();
    flops();
    bytes();
    row("Source", card.source.empty() ? "not stated" : card.source);
    for (const std::string& note : card.notes) row(note == card.notes[0] ? "Notes" : "", note);
  }
  const std::string& text() const { return out_; }

 private:
  static constexpr int kLabel = 15, kWidth = 80;

  void row(std::string_view label, std::string_view text) {
    for (const std::string& line : wrap(text, kWidth - kLabel)) {
      out_ += pad_right(label, kLabel) + line + "\n";
      label = "";
    }
  }

  void parameters() {
    row("Parameters", count_text(card_.total));
    if (card_.active != card_.total)
      row("", count_text(card_.active) + ", those that a token goes through");
    if (card_.embedding > 0) row("", count_text(card_.embedding) + " in embeddings and head");
    if (card_.published > 0)
      row("", fmt::format("{}, as its authors state", count_text(card_.published)));
  }

  void flops() {
    const std::string at = card_.length.empty() ? "" : " at " + card_.length;
    row("FLOPs", fmt::format("{} a {} forward{}", flops_text(card_.forward), card_.unit, at));
    if (card_.attention > 0)
      row("", fmt::format("{} of them in attention, without a causal mask",
                          percent(card_.attention / card_.forward)));
    row("", fmt::format("{} forward and backward", flops_text(3 * card_.forward)));
  }

  void bytes() {
    row("Bytes", humanise(Bytes{kWeightBytes * card_.total}).text() + " of weights in bf16");
    row("", fmt::format("{} with the states of {}: {} bytes a parameter, gradients not counted",
                        humanise(Bytes{card_.with_optimizer}).text(), card_.optimizer,
                        three_digits(card_.with_optimizer / card_.total)));
  }

  const Card& card_;
  std::string out_;
};

std::string json_of(const Card& card) {
  ordered_json json{{"name", card.name}, {"layers", card.layers}};
  const auto whole = [](double count) { return std::llround(count); };
  json["parameters"] = {{"total", whole(card.total)},
                        {"active", whole(card.active)},
                        {"embedding", whole(card.embedding)}};
  if (card.published > 0) json["parameters"]["published"] = whole(card.published);
  json["flops"] = {{"unit", card.unit},
                   {"length", card.length},
                   {"forward", whole(card.forward)},
                   {"forward_attention", whole(card.attention)},
                   {"forward_and_backward", whole(3 * card.forward)}};
  json["bytes"] = {{"weights_bf16", whole(kWeightBytes * card.total)},
                   {"with_optimizer_states", whole(card.with_optimizer)},
                   {"optimizer", card.optimizer}};
  json["source"] = card.source;
  json["notes"] = card.notes;
  return json.dump(2) + "\n";
}

}  // namespace

void show_model(const ScenarioArgument& argument, const std::string& format, std::ostream& out) {
  const Card card = card_of(scenario_of(argument));
  out << (format == "json" ? json_of(card) : Text(card).text());
}

}  // namespace stepsim
