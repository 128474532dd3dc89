// stepsim list: every name that a scenario may use.
#include "sim/command/list.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

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
Library library_here() { return library_for("scenario.yaml"); }

/// Throws IoError where there are none: an empty list would say that nothing is wrong.
std::vector<std::string> some_names_in(const std::string& folder, const Library& library) {
  std::vector<std::string> names = names_in(folder, library);
  if (names.empty())
    throw IoError(fmt::format("nothing to list: no folder of the library has files in {}/:\n  {}",
                              folder, fmt::join(library.roots, "\n  ")));
  return names;
}

void models(std::ostream& out) {
  const Library library = library_here();
  for (const std::string& name : some_names_in("models", library)) {
    const Model model = load_model(name, library);
    line(out, name, grouped(std::llround(parameter_count(model))) + " parameters");
  }
}

void gpus(std::ostream& out) {
  const Library library = library_here();
  for (const std::string& name : some_names_in("calib/gpus", library))
    line(out, name, load_gpu(name, library).description);
}

std::vector<std::string> attention_of(const GpuProfile& gpu) {
  std::vector<std::string> kernels = attention_kernels(gpu);
  kernels.insert(kernels.begin(), {kUnfusedAttention, kEagerAttention});
  return kernels;
}

void attention(std::ostream& out) {
  const Library library = library_here();
  for (const std::string& name : some_names_in("calib/gpus", library)) {
    line(out, name, fmt::format("{}", fmt::join(attention_of(load_gpu(name, library)), ", ")));
  }
}

/// The attention kernels that some GPU has.
std::vector<std::string> attention_words() {
  const Library library = library_here();
  std::set<std::string> words;
  for (const std::string& name : names_in("calib/gpus", library)) {
    const std::vector<std::string> of_one = attention_of(load_gpu(name, library));
    words.insert(of_one.begin(), of_one.end());
  }
  return {words.begin(), words.end()};
}

void links(std::ostream& out) {
  const Library library = library_here();
  for (const std::string& name : some_names_in("calib/links", library)) {
    const LinkProfile link = load_link(name, library);
    line(out, name,
         fmt::format("{:.0f} GB/s per GPU and direction", link.bandwidth.bytes_per_second() / 1e9));
  }
}

void clusters(std::ostream& out) {
  const Library library = library_here();
  for (const std::string& name : some_names_in("scenarios/clusters", library)) {
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

template <class T>
std::vector<std::string> names_registered() {
  return Registry<T>::names();
}

struct Listing {
  std::string_view what;
  void (*print)(std::ostream&);
  std::vector<std::string> (*names)() = nullptr;  ///< nullptr: those of the files in its folder
  std::string_view folder{};                      ///< of the library
};

constexpr Listing kListings[] = {
    {"models", models, nullptr, "models"},
    {"gpus", gpus, nullptr, "calib/gpus"},
    {"attention", attention, attention_words},
    {"links", links, nullptr, "calib/links"},
    {"clusters", clusters, nullptr, "scenarios/clusters"},
    {"conventions", registered<FlopConvention>, names_registered<FlopConvention>},
    {"distributions", registered<Distribution>, names_registered<Distribution>},
    {"frameworks", frameworks, names_of<Framework>},
    {"collectives", registered<CollectiveAlgorithm>, names_registered<CollectiveAlgorithm>},
    {"optimizers", registered<OptimizerRule>, names_registered<OptimizerRule>},
    {"node-topologies", registered<NodeTopology>, names_registered<NodeTopology>},
    {"schedules", registered<Schedule>, names_registered<Schedule>},
    {"shardings", registered<Sharding>, names_registered<Sharding>},
    {"styles", registered<Style>, names_registered<Style>},
    {"topologies", registered<Topology>, names_registered<Topology>},
};

const Listing& listing_called(const std::string& what) {
  return *std::ranges::find(kListings, what, &Listing::what);
}

}  // namespace

std::vector<std::string> listings() {
  std::vector<std::string> words;
  for (const Listing& listing : kListings) words.emplace_back(listing.what);
  return words;
}

std::string folder_of_listing(const std::string& what) {
  return std::string(listing_called(what).folder);
}

std::vector<std::string> names_of_listing(const std::string& what) {
  const Listing& listing = listing_called(what);
  return listing.names != nullptr ? listing.names()
                                  : names_in(std::string(listing.folder), library_here());
}

ExitCode list(const std::string& what, std::ostream& out) {
  listing_called(what).print(out);
  return ExitCode::ok;
}

}  // namespace stepsim
