// Finds links by name and NIC, and draws ranks and groups.
#include "sim/plan/fault/faults.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/cluster/link_names.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The two ends of a cable, which the links of both directions share.
using Cable = std::pair<std::string, std::string>;
Cable cable_of(const Network& network, LinkId link) {
  const auto [from, to] = network.ends_of(link);
  return std::minmax(from, to);
}

std::vector<LinkId> links_called(const std::string& pattern, const Network& network) {
  std::vector<LinkId> links = links_named(pattern, network);
  if (!links.empty()) return links;
  throw UserError(fmt::format("faults.slow_links: no link is called '{}', {}", pattern,
                              proposal_for(pattern, network)));
}

void append(std::vector<LinkId>& links, const std::vector<LinkId>& more) {
  links.insert(links.end(), more.begin(), more.end());
}

/// The links, in both directions, of the NICs that `slow` lists; of all NICs where it lists none.
std::vector<LinkId> nic_links(const SlowLinks& slow, const Network& network) {
  const auto is_listed = [](const std::vector<int>& list, int member) {
    return std::ranges::find(list, member) != list.end();
  };
  std::set<std::pair<int, int>> ports;
  for (const int rank : slow.who.ranks) {
    const Port port = network.port_of(rank);
    ports.emplace(port.node, port.nic);
  }
  const bool all = slow.links.empty() && slow.who.ranks.empty() && slow.who.nodes.empty();
  std::vector<LinkId> links;
  for (LinkId link = network.first_nic(); link < network.first_switch(); ++link) {
    const Port port = network.port_at(link);
    if (all || ports.contains({port.node, port.nic}) || is_listed(slow.who.nodes, port.node))
      links.push_back(link);
  }
  const bool listed = !slow.who.ranks.empty() || !slow.who.nodes.empty();
  if (links.empty() && (all || listed))
    throw UserError("faults.slow_links: the cluster has no NICs, state links");
  return links;
}

std::vector<LinkId> listed_links(const SlowLinks& slow, const Network& network) {
  std::vector<LinkId> links = nic_links(slow, network);
  for (const std::string& pattern : slow.links) append(links, links_called(pattern, network));
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

std::vector<LinkId> slow_links(const SlowLinks& slow, const Network& network, RandomKey key) {
  std::vector<LinkId> links = listed_links(slow, network);
  if (!slow.who.fraction) return links;
  std::map<Cable, int> numbers;
  std::vector<int> cables;
  for (const LinkId link : links) {
    const auto number = static_cast<int>(numbers.size());
    if (numbers.emplace(cable_of(network, link), number).second) cables.push_back(number);
  }
  const std::vector<int> chosen = drawn(cables, *slow.who.fraction, key);
  if (chosen.empty()) {
    throw UserError(fmt::format("faults.slow_links: {:g} % of {} links is none",
                                100 * *slow.who.fraction, cables.size()));
  }
  std::vector<LinkId> result;
  for (const LinkId link : links) {
    const int number = numbers.at(cable_of(network, link));
    if (std::ranges::binary_search(chosen, number)) result.push_back(link);
  }
  return result;
}

void add_slow_links(Plan& plan, const Scenario& scenario, RandomKey key) {
  for (std::size_t i = 0; i < scenario.faults.slow_links.size(); ++i) {
    const SlowLinks& slow = scenario.faults.slow_links[i];
    const bool for_good = !slow.until && slow.from == Seconds{0};
    for (const LinkId link : slow_links(slow, plan.network, key.with(i))) {
      if (for_good) {
        plan.network.set_bandwidth(link, plan.network.links()[link].bandwidth * slow.factor);
        continue;
      }
      plan.windows.push_back(
          {link, slow.factor, slow.from.seconds(),
           slow.until ? slow.until->seconds() : std::numeric_limits<double>::infinity(),
           slow.period.value_or(Seconds{0}).seconds()});
    }
  }
}

Draws draws_of(const Jitter& jitter, RandomKey key) {
  return {Registry<Distribution>::find(jitter.distribution)->quantile(jitter.spread),
          key,
          jitter.per,
          {}};
}

/// Which ranks the jitter touches: a flag for each rank.
std::vector<bool> touched_ranks(const Jitter& jitter, const Cluster& cluster, RandomKey key) {
  std::vector<bool> touched(static_cast<std::size_t>(cluster.gpus()), false);
  for (const int rank : affected_ranks(jitter.who, cluster, key))
    touched[static_cast<std::size_t>(rank)] = true;
  return touched;
}

}  // namespace

void add_faults(Plan& plan, const Scenario& scenario, const PlanOptions& options) {
  const Faults& faults = scenario.faults;
  const auto key = [&](Drawn what) { return key_of(scenario.run, options.replica, what); };
  add_slow_links(plan, scenario, key(Drawn::slow_links));
  if (faults.kernels) {
    const RandomKey own = key(Drawn::kernels);
    plan.kernel_draws = draws_of(*faults.kernels, own);
    plan.kernel_draws->touched = touched_ranks(*faults.kernels, scenario.cluster, own);
    for (const int rank : options.healthy)
      plan.kernel_draws->touched[static_cast<std::size_t>(rank)] = false;
  }
  if (!faults.collectives) return;
  const RandomKey own = key(Drawn::collectives);
  plan.collective_draws = draws_of(*faults.collectives, own);
  const std::vector<bool> ranks = touched_ranks(*faults.collectives, scenario.cluster, own);
  for (const Group& group : plan.groups) {
    plan.collective_draws->touched.push_back(std::ranges::any_of(
        group.ranks, [&](int rank) { return ranks[static_cast<std::size_t>(rank)]; }));
  }
}

}  // namespace stepsim
