// One search a cluster; the scenario's other keys stay as they are.
#include "sim/command/search/search_clusters.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include <fmt/format.h>

#include "sim/command/search/search_request.hpp"
#include "sim/core/source.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/report/search/clusters_report.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

struct Wanted {
  std::string cluster;
  std::string price;  ///< dollars an hour of a GPU; empty: as the scenario has it
};

/// "dgx-h100=2.5,dgx-b200" as its parts.
std::vector<Wanted> wanted_of(const std::string& list) {
  std::vector<Wanted> all;
  std::istringstream stream(list + ",");  // an item ends before each comma
  for (std::string item; std::getline(stream, item, ',');) {
    const std::size_t equals = std::min(item.find('='), item.size());
    Wanted one{item.substr(0, equals), item.substr(std::min(equals + 1, item.size()))};
    const auto price = number_if_any(one.price);
    const bool is_price = one.price.empty() || (price && price->rest.empty() && price->value >= 0);
    if (one.cluster.empty() || !is_price || (equals < item.size() && one.price.empty()))
      throw UserError(fmt::format(
          "--clusters {}: {} is no cluster or cluster=dollars, as in dgx-h100=2.5,dgx-b200", list,
          stepsim::quoted(item)));
    const bool is_known =
        std::ranges::any_of(all, [&](const Wanted& other) { return other.cluster == one.cluster; });
    if (is_known)
      throw UserError(
          fmt::format("--clusters {}: {} stands twice", list, stepsim::quoted(one.cluster)));
    all.push_back(std::move(one));
  }
  return all;
}

/// As many GPUs of each node as make whole nodes: 64 of a rack of 72 for 256.
int used_of_node(const Cluster& cluster, int gpus) {
  int each = std::min(cluster.gpus_per_node, gpus);
  while (gpus % each != 0) --each;
  return each;
}

SearchOptions on(const Wanted& wanted, const Cluster& cluster, int gpus, SearchOptions options) {
  const int each = used_of_node(cluster, gpus);
  std::string map = fmt::format("cluster={{base: {}, nodes: {}", wanted.cluster, gpus / each);
  if (each != cluster.gpus_per_node) map += fmt::format(", gpus_per_node: {}", each);
  options.scenario.overrides.push_back(map + "}");
  if (!wanted.price.empty())
    options.scenario.overrides.push_back(
        fmt::format("cost={{price: \"{} $/gpu/h\"}}", wanted.price));
  options.clusters.clear();
  options.gpus.clear();
  return options;
}

std::string formatted(const SearchOptions& options, const ClustersReport& report) {
  if (options.format == "json") return clusters_json(report);
  if (options.format == "csv") return clusters_csv(report);
  return clusters_text(report, options.screen);
}

ExitCode code_of(const ClustersReport& report) {
  bool any_in_time = false, is_complete = true;
  for (const ClusterSearch& one : report.clusters) {
    if (!one.search) continue;
    if (one.search->outcome.counts.has_defect()) return ExitCode::internal;
    is_complete = is_complete && !one.search->interrupted && one.search->no_run.empty();
    const SearchReport& search = *one.search;
    const bool is_late = search.deadline && search.run && search.run->wall > *search.deadline;
    any_in_time = any_in_time || (!search.listed.empty() && !is_late);
  }
  if (!is_complete) return ExitCode::incomplete;
  return any_in_time ? ExitCode::ok : ExitCode::expectation_failed;
}

}  // namespace

ExitCode search_clusters(const SearchOptions& options, std::ostream& out, std::ostream& notes) {
  if (!options.output.empty() || !options.objective.empty())
    throw UserError("--clusters: it goes with neither --output nor --objective");
  check_outputs({html_output(options.html, options.force, kSearchPages)});
  for (const std::string& setting : options.scenario.overrides) {
    if (setting.starts_with("cluster"))
      throw UserError(
          fmt::format("--set {}: --clusters takes each cluster as it is; --gpus says how "
                      "many GPUs",
                      setting));
  }
  const std::vector<Wanted> wanted = wanted_of(options.clusters);
  const Library library = library_for(options.scenario.path);
  const Scenario scenario = load(options.scenario, library);
  const std::vector<int> sizes = sizes_of(options, Cluster{.nodes = 1, .gpus_per_node = 1});
  const int gpus = options.gpus.empty() ? scenario.cluster.gpus() : sizes.front();
  if (sizes.size() > 1)
    throw UserError(fmt::format("--gpus {}: --clusters compares one number of GPUs", options.gpus));
  ClustersReport report{.scenario = scenario.name,
                        .model = scenario.model.name,
                        .gpus = gpus,
                        .global_batch = scenario.training.global_batch,
                        .clusters = {}};
  // Mistakes of the command line are no cluster's.
  (void)deadline_of(options, steps_of(options, scenario));
  check_only(options);
  const InterruptNoted noted;
  for (const Wanted& one : wanted) {
    const Cluster cluster = load_cluster(one.cluster, library);
    ClusterSearch found{.cluster = one.cluster,
                        .gpu = cluster.gpu.name,
                        .gpus_of_node = used_of_node(cluster, gpus),
                        .search = {},
                        .reason = {}};
    if (InterruptNoted::came()) {
      found.reason = "interrupted";
    } else {
      try {
        found.search = search_report(on(one, cluster, gpus, options), notes);
      } catch (const UserError& error) {
        found.reason = error.what();
      }
    }
    report.clusters.push_back(std::move(found));
  }
  const bool none = std::ranges::none_of(
      report.clusters, [](const ClusterSearch& one) { return one.search.has_value(); });
  if (none && !InterruptNoted::came()) throw UserError(report.clusters.front().reason);
  out << formatted(options, report);
  write_page(options, {"clusters", report.scenario, clusters_json(report)}, notes);
  return code_of(report);
}

}  // namespace stepsim
