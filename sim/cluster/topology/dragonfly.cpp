// Dragonfly: routers in groups; within a group each is joined to each other, and each group to each
// other group.
//
// Kim, Dally, Scott and Abts 2008 (ISCA, "Technology-Driven, Highly-Scalable Dragonfly Topology"):
// p nodes a router, a routers a group, h global links a router, at most a h + 1 groups; balanced
// where a = 2h. Minimal routing (section 4.1): to the router with a link to the other group, over
// it, to the target's router. Between each two groups lie floor(a h / (groups - 1)) links, dealt
// out router by router; a transfer takes one of its own router where there is one, else they take
// turns.
#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/topology.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

constexpr std::int64_t kMostLinks = 10'000'000;  // far above any machine, and fits in memory

/// A dragonfly's numbers. Links within groups come first, then those between groups.
struct Dragonfly {
  int nodes_per_router, routers, global_links, groups;  ///< `routers` is the number in one group

  /// routers count through all groups
  int router_of(int node) const { return node / nodes_per_router; }
  int group_of(int router) const { return router / routers; }

  // --- within groups: from each router to the others, in order
  int local_links() const { return groups * routers * (routers - 1); }
  LinkId local(int from, int to) const {
    const int a = from % routers, b = to % routers;
    return static_cast<LinkId>(from * (routers - 1) + (b < a ? b : b - 1));
  }

  // --- between groups: from each group to the next, the one after it, ...; parallel links together
  int links_between() const {
    return groups > 1 ? std::max(1, routers * global_links / (groups - 1)) : 0;
  }
  int distance(int from, int to) const { return (to - from - 1 + groups) % groups; }
  LinkId global(int from, int to, int which) const {
    const int place = from * (groups - 1) + distance(from, to);
    return static_cast<LinkId>(local_links() + place * links_between() + which);
  }
  /// The router, counted through all groups, that has the link `which` from `group` to `other`.
  int gateway(int group, int other, int which) const {
    const int cable = which * (groups - 1) + distance(group, other);
    return group * routers + std::min(cable / global_links, routers - 1);
  }

  int choose(int source, int target) const {
    const int from = group_of(source), to = group_of(target);
    for (int which = 0; which < links_between(); ++which) {
      if (gateway(from, to, which) == source) return which;
    }
    return (source + target) % links_between();
  }

  void route(int source, int target, std::vector<LinkId>& route) const {
    int at = source;
    const int from = group_of(source), to = group_of(target);
    if (from != to) {
      const int which = choose(source, target);
      const int exit = gateway(from, to, which);
      if (exit != at) route.push_back(local(at, exit));
      route.push_back(global(from, to, which));
      at = gateway(to, from, which);
    }
    if (at != target) route.push_back(local(at, target));
  }

  std::string router_name(int router) const {
    return fmt::format("group {} router {}", group_of(router), router % routers);
  }
  struct Ends {
    /// routers, counted through all groups, or groups and which of their links
    int from, to, which;
    bool is_local;
  };
  Ends ends(LinkId link) const {
    const int id = static_cast<int>(link);
    if (id < local_links()) {
      const int from = id / (routers - 1), other = id % (routers - 1);
      const int to = group_of(from) * routers + (other < from % routers ? other : other + 1);
      return {from, to, 0, true};
    }
    const int place = (id - local_links()) / links_between();
    const int from = place / (groups - 1);
    return {from, (from + place % (groups - 1) + 1) % groups,
            (id - local_links()) % links_between(), false};
  }
  std::string name(LinkId link) const {
    const Ends e = ends(link);
    if (e.is_local) return fmt::format("{} to router {}", router_name(e.from), e.to % routers);
    const std::string text = fmt::format("group {} to group {}", e.from, e.to);
    return links_between() == 1 ? text : fmt::format("{} link {}", text, e.which);
  }
};

Dragonfly dragonfly_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  Dragonfly d{.nodes_per_router = fabric.nodes_per_router.value_or(1),
              .routers = fabric.routers_per_group.value_or(1),
              .global_links = 0,
              .groups = 0};
  d.global_links = fabric.global_links.value_or(std::max(1, d.routers / 2));
  d.groups = d.group_of(d.router_of(cluster.nodes - 1)) + 1;
  return d;
}

std::vector<Objection> dragonfly_objections(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  if (!fabric.routers_per_group) {
    return {{"cluster.inter_node.routers_per_group", "a dragonfly needs routers_per_group",
             "add \"routers_per_group: <integer>\""}};
  }
  const Dragonfly d = dragonfly_of(cluster);
  const std::int64_t reached = std::int64_t{d.routers} * d.global_links;
  const std::int64_t links = d.groups * (std::int64_t{d.routers} * (d.routers - 1) + reached);
  if (links > kMostLinks) {
    return {{"cluster.inter_node.routers_per_group",
             fmt::format("{} groups of {} routers with {} global links each have {} links, more "
                         "than {}",
                         d.groups, d.routers, d.global_links, links, kMostLinks),
             ""}};
  }
  if (d.groups - 1 <= reached) return {};
  return {{"cluster.inter_node.routers_per_group",
           fmt::format("{} nodes make {} groups, but {} routers with {} global link{} each join a "
                       "group to {} others",
                       cluster.nodes, d.groups, d.routers, d.global_links,
                       d.global_links == 1 ? "" : "s", reached),
           "raise nodes_per_router, routers_per_group or global_links"}};
}

Wiring lay_out_dragonfly(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  const Dragonfly d = dragonfly_of(cluster);
  const BytesPerSecond local = fabric.link_bandwidth.value_or(fabric.bandwidth);
  const BytesPerSecond global = fabric.global_bandwidth.value_or(local);
  std::vector<BytesPerSecond> capacities(static_cast<std::size_t>(d.local_links()),
                                         local * fabric.efficiency);
  const int globals = d.groups * (d.groups - 1) * d.links_between();
  capacities.resize(capacities.size() + static_cast<std::size_t>(globals),
                    global * fabric.efficiency);
  return {
      .capacities = std::move(capacities),
      .name_of = [d](LinkId link) { return d.name(link); },
      .ends_of =
          [d](LinkId link) {
            const auto e = d.ends(link);
            if (e.is_local) return std::pair{d.router_name(e.from), d.router_name(e.to)};
            return std::pair{d.router_name(d.gateway(e.from, e.to, e.which)),
                             d.router_name(d.gateway(e.to, e.from, e.which))};
          },
      .switch_of = [d](Port port) { return d.router_name(d.router_of(port.node)); },
      .route =
          [d](Port from, Port to, std::vector<LinkId>& route) {
            d.route(d.router_of(from.node), d.router_of(to.node), route);
          },
      .regions = [](int) { return std::vector<int>{}; },  // each pair of groups has its own link
  };
}

const Registered<Topology> dragonfly{{
    .name = "dragonfly",
    .description = "groups of routers, each joined to each within a group, each group to each; "
                   "minimal routes",
    .keys = {"nodes_per_router", "routers_per_group", "global_links", "link_bandwidth",
             "global_bandwidth"},
    .objections = dragonfly_objections,
    .lay_out = lay_out_dragonfly,
}};

}  // namespace
}  // namespace stepsim
