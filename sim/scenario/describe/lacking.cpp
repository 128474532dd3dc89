// Holds the keys of a scenario against the table of abilities.
#include "sim/scenario/describe/lacking.hpp"

#include <algorithm>
#include <sstream>

#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

/// Keys that have no effect have a default, which the framework need not have.
bool has_effect(const std::string& key, const Scenario& s) {
  const Parallelism& p = s.parallelism;
  if (key.starts_with("parallelism.pipeline.")) return p.pipeline.stages > 1;
  if (key.starts_with("parallelism.context.")) return p.context.degree > 1;
  if (key == "parallelism.expert.tensor") return p.expert.tensor.value_or(p.tensor) != p.tensor;
  if (key.starts_with("parallelism.expert.")) return p.expert.degree > 1;
  if (key == "parallelism.sequence") return p.tensor > 1;
  if (key == "parallelism.data.reshard_after_forward") return p.data.sharding.shards_parameters;
  if (key == "training.recompute.modules") return s.training.recompute.kind == Recompute::selective;
  if (key == "training.recompute.method") return s.training.recompute.kind == Recompute::full;
  return true;
}

/// "[mlp, norm]" as its items; a single value as itself.
std::vector<std::string> items_of(std::string value) {
  std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::vector<std::string> items;
  std::istringstream stream(value);
  for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
  return items;
}

/// The row that holds; the one for pipelines counts first where there are stages.
const FrameworkAbility* row_of(Framework framework, const std::string& key, bool beside_stages) {
  const FrameworkAbility* found = nullptr;
  for (const FrameworkAbility& row : framework_abilities()) {
    if (row.framework == framework && row.path == key && (!row.beside_stages || beside_stages) &&
        (found == nullptr || row.beside_stages))
      found = &row;
  }
  return found;
}

}  // namespace

std::vector<Lack> lacking(Framework framework, const Scenario& scenario) {
  const bool beside_stages = scenario.parallelism.pipeline.stages > 1;
  std::vector<Lack> lacks;
  for (const auto& [key, value] : keys_of(scenario)) {
    if (!has_effect(key, scenario)) continue;
    for (const std::string& item : items_of(value)) {
      if (!framework_can(framework, key, item, beside_stages))
        lacks.push_back({key, item, row_of(framework, key, beside_stages)});
    }
  }
  return lacks;
}

bool lacks_more(const Scenario& changed, const Scenario& before) {
  if (!changed.framework) return false;
  const std::vector<Lack> known = lacking(*changed.framework, before);
  return std::ranges::any_of(lacking(*changed.framework, changed), [&](const Lack& lack) {
    return std::ranges::none_of(known, [&](const Lack& other) {
      return other.key == lack.key && other.value == lack.value;
    });
  });
}

}  // namespace stepsim
