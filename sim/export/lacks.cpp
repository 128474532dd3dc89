// Holds the keys of a scenario against the table of abilities.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/export/export.hpp"
#include "sim/export/round_trip.hpp"
#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

/// Keys that have no effect have a default, which the framework need not have.
bool has_effect(std::string_view key, const Scenario& s) {
  const Parallelism& p = s.parallelism;
  if (is_within(key, "parallelism.pipeline")) return p.pipeline.stages > 1;
  if (is_within(key, "parallelism.context")) return p.context.degree > 1;
  if (is_within(key, "parallelism.expert")) return p.expert.degree > 1;
  if (key == "parallelism.sequence") return p.tensor > 1;
  if (key == "parallelism.data.reshard_after_forward") return p.data.sharding.shards_parameters;
  if (key == "training.recompute.modules") return s.training.recompute.kind == Recompute::selective;
  if (key == "training.recompute.method") return s.training.recompute.kind == Recompute::full;
  return true;
}

/// "[mlp, norm]" as its words; a single word as itself.
std::vector<std::string> words_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

/// The row that holds; the one for pipelines counts first where there are stages.
const FrameworkAbility& row_of(Framework framework, const std::string& key, bool beside_stages) {
  const FrameworkAbility* found = nullptr;
  for (const FrameworkAbility& row : framework_abilities()) {
    if (row.framework == framework && row.path == key && (!row.beside_stages || beside_stages) &&
        (found == nullptr || row.beside_stages))
      found = &row;
  }
  return *found;
}

}  // namespace

void refuse_what_framework_lacks(const Exporter& exporter, const Scenario& scenario) {
  const Framework framework = exporter.framework(scenario);
  const bool beside_stages = scenario.parallelism.pipeline.stages > 1;
  std::vector<Diagnostic> refusals;
  for (const auto& [key, value] : keys_of(scenario)) {
    const bool compared = std::ranges::find(exporter.compared, key) != exporter.compared.end();
    if (compared || !has_effect(key, scenario)) continue;
    for (const std::string& word : words_of(value)) {
      if (framework_can(framework, key, word, beside_stages)) continue;
      const FrameworkAbility& row = row_of(framework, key, beside_stages);
      refusals.push_back({.message = fmt::format("{}: {}: {} has {}{}{}", key, word,
                                                 name_of(framework), one_of(row.values),
                                                 row.beside_stages ? " beside pipeline stages" : "",
                                                 row.note.empty() ? "" : " (" + row.note + ")")});
    }
  }
  if (!refusals.empty()) throw UserError(refusals);
}

}  // namespace stepsim
