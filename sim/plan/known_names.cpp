// Names from the registries of all rooms below.
#include "sim/plan/known_names.hpp"

#include "sim/cluster/link_names.hpp"
#include "sim/cluster/network.hpp"
#include "sim/cluster/node_topology.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

std::vector<KnownConvention> known_conventions() {
  std::vector<KnownConvention> known;
  for (const FlopConvention* convention : Registry<FlopConvention>::all())
    known.push_back({std::string(convention->name), convention->any_model});
  return known;
}

std::vector<KnownStyle> known_styles() {
  std::vector<KnownStyle> known;
  for (const Style* style : Registry<Style>::all())
    known.push_back({std::string(style->name), style->parts_bias_and_dropout});
  return known;
}

template <class T>
std::vector<KnownTopology> known_topologies() {
  std::vector<KnownTopology> known;
  for (const T* topology : Registry<T>::all())
    known.push_back({std::string(topology->name), topology->keys, topology->objections});
  return known;
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

}  // namespace stepsim
