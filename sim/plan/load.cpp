// Scenario loading, with names from the registries of all rooms below.
#include "sim/plan/load.hpp"

#include "sim/cluster/link_names.hpp"
#include "sim/cluster/network.hpp"
#include "sim/cluster/node_topology.hpp"
#include "sim/core/registry.hpp"
#include "sim/core/source.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

std::vector<KnownConvention> known_conventions() {
  std::vector<KnownConvention> known;
  for (const FlopConvention* convention : Registry<FlopConvention>::all())
    known.push_back(
        {std::string(convention->name), convention->any_model, convention->by_parameters});
  return known;
}

std::vector<KnownStyle> known_styles() {
  std::vector<KnownStyle> known;
  for (const Style* style : Registry<Style>::all())
    known.push_back({std::string(style->name), style->has_fusion_switches});
  return known;
}

template <class T>
std::vector<KnownTopology> known_topologies() {
  std::vector<KnownTopology> known;
  for (const T* topology : Registry<T>::all())
    known.push_back({std::string(topology->name), topology->keys, topology->objections});
  return known;
}

std::vector<Override> overrides_of(const ScenarioArgument& argument) {
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  return overrides;
}

}  // namespace

KnownNames known_names() {
  return {.schedules = known_schedules(),
          .topologies = known_topologies<Topology>(),
          .collectives = Registry<CollectiveAlgorithm>::names(),
          .conventions = known_conventions(),
          .optimizers = known_optimizers(),
          .styles = known_styles(),
          .node_topologies = known_topologies<NodeTopology>(),
          .link_names = link_name_objections};
}

Scenario load(const ScenarioArgument& argument) {
  return load(argument, library_for(argument.path));
}

Scenario load(const ScenarioArgument& argument, const Library& library) {
  return parse_scenario(read_source(argument.path)->text, argument.path, library,
                        overrides_of(argument), known_names());
}

Scenario load(ScenarioArgument argument, const std::vector<std::string>& settings,
              const Library& library) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return load(argument, library);
}

std::set<std::string> stated_keys(const ScenarioArgument& argument) {
  return stated_keys(argument.path, overrides_of(argument));
}

}  // namespace stepsim
