// Names from the registries of all rooms below.
#include "sim/plan/known_names.hpp"

#include "sim/cluster/network.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/flop_convention.hpp"
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

}  // namespace

KnownNames known_names() {
  return {known_schedules(), Registry<Topology>::names(), Registry<CollectiveAlgorithm>::names(),
          known_conventions(), known_optimizers()};
}

}  // namespace stepsim
