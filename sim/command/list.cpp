// stepsim list: every name that a scenario may use.
#include "sim/command/list.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/ranges.h>

#include "sim/cluster/network.hpp"
#include "sim/core/distribution.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/sharding.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

void line(std::ostream& out, std::string_view name, std::string_view description) {
  out << fmt::format("{:<20} {}\n", name, description);
}

template <class T>
void registered(std::ostream& out) {
  for (const T* entry : Registry<T>::all()) line(out, entry->name, entry->description);
}

/// What a scenario in the current folder could name.
Library names_here() { return library_for("scenario.yaml"); }

void models(std::ostream& out) {
  const Library library = names_here();
  for (const std::string& name : names_in("models", library)) {
    const Model model = load_model(name, library);
    line(out, name, grouped(std::llround(parameter_count(model))) + " parameters");
  }
}

void gpus(std::ostream& out) {
  const Library library = names_here();
  for (const std::string& name : names_in("calib/gpus", library))
    line(out, name, load_gpu(name, library).description);
}

void attention(std::ostream& out) {
  const Library library = names_here();
  for (const std::string& name : names_in("calib/gpus", library)) {
    std::vector<std::string> kernels = attention_kernels(load_gpu(name, library));
    kernels.insert(kernels.begin(), {kUnfusedAttention, kEagerAttention});
    line(out, name, fmt::format("{}", fmt::join(kernels, ", ")));
  }
}

void links(std::ostream& out) {
  const Library library = names_here();
  for (const std::string& name : names_in("calib/links", library)) {
    const LinkProfile link = load_link(name, library);
    line(out, name,
         fmt::format("{:.0f} GB/s per GPU and direction", link.bandwidth.bytes_per_second() / 1e9));
  }
}

void clusters(std::ostream& out) {
  const Library library = names_here();
  for (const std::string& name : names_in("scenarios/clusters", library)) {
    const Cluster cluster = load_cluster(name, library);
    line(out, name, fmt::format("{} {} GPUs a node", cluster.gpus_per_node, cluster.gpu.name));
  }
}

void frameworks(std::ostream& out) {
  for (const auto& [name, framework] : kNames<Framework>) {
    const auto& presets = framework_presets();
    const auto defaults = std::ranges::count(presets, framework, &FrameworkPreset::framework);
    line(out, name, fmt::format("{} defaults, in docs/frameworks.md", defaults));
  }
}

struct Listing {
  std::string_view what;
  void (*print)(std::ostream&);
};

constexpr Listing kListings[] = {
    {"models", models},
    {"gpus", gpus},
    {"attention", attention},
    {"links", links},
    {"clusters", clusters},
    {"conventions", registered<FlopConvention>},
    {"distributions", registered<Distribution>},
    {"frameworks", frameworks},
    {"collectives", registered<CollectiveAlgorithm>},
    {"optimizers", registered<OptimizerRule>},
    {"node-topologies", registered<NodeTopology>},
    {"schedules", registered<Schedule>},
    {"shardings", registered<Sharding>},
    {"styles", registered<Style>},
    {"topologies", registered<Topology>},
};

}  // namespace

std::vector<std::string> listings() {
  std::vector<std::string> words;
  for (const Listing& listing : kListings) words.emplace_back(listing.what);
  return words;
}

ExitCode list(const std::string& what, std::ostream& out) {
  for (const Listing& listing : kListings) {
    if (listing.what == what) listing.print(out);
  }
  return ExitCode::ok;
}

}  // namespace stepsim
