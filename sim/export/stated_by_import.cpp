// Names where the library has them, else what they stand for.
#include "sim/export/stated_by_import.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

bool library_has(const std::string& folder, const std::string& name) {
  const auto names = names_in(folder, library_for("scenario.yaml"));
  return std::ranges::find(names, name) != names.end();
}

/// Keys of a model that say where its sizes come from.
constexpr std::string_view kSources[] = {"model.published_parameters", "model.unpublished",
                                         "model.source", "model.notes"};

/// "{name: x, layers: 12, experts: {count: 8}}"; maps lie one below the other at most.
std::string flow_map(const Model& model) {
  Scenario scenario;
  scenario.model = model;
  std::string text = "{", section;
  for (const auto& [key, value] : keys_of(scenario)) {
    const auto is_source = [&key = key](std::string_view source) { return is_within(key, source); };
    if (!is_within(key, "model") || std::ranges::any_of(kSources, is_source)) continue;
    const std::string name = key.substr(std::string_view("model.").size());
    const std::size_t dot = name.find('.');
    const std::string within = dot == std::string::npos ? "" : name.substr(0, dot);
    if (within != section && !section.empty()) text += "}";
    if (text.size() > 1) text += ", ";
    if (within != section && !within.empty()) text += within + ": {";
    section = within;
    text += fmt::format("{}: {}", dot == std::string::npos ? name : name.substr(dot + 1), value);
  }
  return text + (section.empty() ? "}" : "}}");
}

}  // namespace

std::optional<std::string> cluster_option(const Cluster& cluster) {
  return library_has("scenarios/clusters", cluster.name) ? std::optional(cluster.name)
                                                         : std::nullopt;
}

std::string model_option(const Model& model) {
  const bool is_known = library_has("models", model.name) &&
                        load_model(model.name, library_for("scenario.yaml")).shape == model.shape;
  return is_known ? model.name : flow_map(model);
}

const Transformer& transformer_of(const Scenario& scenario, const std::string& why) {
  const auto* shape = std::get_if<Transformer>(&scenario.model.shape);
  if (shape == nullptr)
    throw UserError(fmt::format("model {}: {}: {}", scenario.model.name,
                                name_of(ModelKind{static_cast<int>(scenario.model.shape.index())}),
                                why));
  if (shape->tower)
    throw UserError(fmt::format("model {}: no file of these says which images its tower reads",
                                scenario.model.name));
  return *shape;
}

}  // namespace stepsim
