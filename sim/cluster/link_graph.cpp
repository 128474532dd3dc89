// Finds best routes by Dijkstra's algorithm, once for each forwarding vertex that is a destination.
#include "sim/cluster/link_graph.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

namespace stepsim {
namespace {

/// How far a vertex is from a destination: less is better.
struct Reach {
  int hops = std::numeric_limits<int>::max();
  double width = 0;
  bool operator==(const Reach&) const = default;
};
bool is_better(const Reach& a, const Reach& b) {
  return a.hops != b.hops ? a.hops < b.hops : a.width > b.width;
}
Reach extended(const Reach& way, double width) {
  return {way.hops + 1, std::min(way.width, width)};
}
constexpr Reach kHere{0, std::numeric_limits<double>::infinity()};

/// The links between forwarding vertices, against their direction.
using Reversed =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                          boost::property<boost::edge_weight_t, double>>;

struct Edge {
  LinkGraph::Vertex from, to;
  double width;
};

/// The place where a route enters or leaves the part of the graph that forwards.
struct Access {
  LinkGraph::Vertex at;
  std::optional<LinkId> over;  ///< the link that leads there; absent: the vertex itself forwards
};

}  // namespace

struct LinkGraph::Impl {
  std::vector<bool> forwards;
  std::vector<Edge> edges;
  std::vector<std::vector<LinkId>> out, in;
  Reversed reversed;
  /// reach of every vertex, by destination
  mutable std::unordered_map<Vertex, std::vector<Reach>> reaches;

  const std::vector<Reach>& reach_of(Vertex destination) const {
    const auto known = reaches.find(destination);
    if (known != reaches.end()) return known->second;
    std::vector<Reach> reach(forwards.size());
    boost::dijkstra_shortest_paths(
        reversed, destination,
        boost::distance_map(
            boost::make_iterator_property_map(reach.begin(), get(boost::vertex_index, reversed)))
            .distance_compare(&is_better)
            .distance_combine(&extended)
            .distance_inf(Reach{})
            .distance_zero(kHere));
    return reaches.emplace(destination, std::move(reach)).first->second;
  }

  std::vector<Access> accesses(Vertex vertex, bool entering) const {
    if (forwards[vertex]) return {{vertex, std::nullopt}};
    std::vector<Access> found;
    for (const LinkId link : (entering ? out : in)[vertex]) {
      const Vertex other = entering ? edges[link].to : edges[link].from;
      if (forwards[other]) found.push_back({other, link});
    }
    return found;
  }

  std::optional<LinkId> direct(Vertex from, Vertex to) const {
    std::optional<LinkId> best;
    for (const LinkId link : out[from]) {
      if (edges[link].to == to && (!best || edges[link].width > edges[*best].width)) best = link;
    }
    return best;
  }

  /// Appends the route from one forwarding vertex to another; `choice` picks among equals, digit by
  /// digit.
  void walk(Vertex from, Vertex to, std::size_t& choice, std::vector<LinkId>& route) const {
    const std::vector<Reach>& reach = reach_of(to);
    for (Vertex at = from; at != to;) {
      std::vector<LinkId> equals;
      for (const LinkId link : out[at]) {
        const Edge& edge = edges[link];
        if (forwards[edge.to] && reach[edge.to].hops < reach[at].hops &&
            extended(reach[edge.to], edge.width) == reach[at])
          equals.push_back(link);
      }
      const LinkId next = equals[choice % equals.size()];
      choice /= equals.size();
      route.push_back(next);
      at = edges[next].to;
    }
  }

  /// All pairs of an entrance and an exit whose route is as good as the best.
  std::vector<std::pair<Access, Access>> best_ways(Vertex from, Vertex to) const {
    std::vector<std::pair<Access, Access>> best;
    Reach shortest;
    for (const Access& exit : accesses(to, false)) {
      const std::vector<Reach>& reach = reach_of(exit.at);
      for (const Access& entry : accesses(from, true)) {
        Reach way = reach[entry.at];
        if (way.hops == Reach{}.hops) continue;
        if (entry.over) way = extended(way, edges[*entry.over].width);
        if (exit.over) way = extended(way, edges[*exit.over].width);
        if (is_better(way, shortest)) best.clear();
        if (best.empty()) shortest = way;
        if (way == shortest) best.emplace_back(entry, exit);
      }
    }
    return best;
  }
};

LinkGraph::LinkGraph() : impl_(std::make_shared<Impl>()) {}

LinkGraph::Vertex LinkGraph::add_vertex(bool forwards) {
  impl_->forwards.push_back(forwards);
  impl_->out.emplace_back();
  impl_->in.emplace_back();
  return static_cast<Vertex>(boost::add_vertex(impl_->reversed));
}

LinkId LinkGraph::add_link(Vertex from, Vertex to, BytesPerSecond width) {
  const LinkId link = static_cast<LinkId>(impl_->edges.size());
  impl_->edges.push_back({from, to, width.base()});
  impl_->out[from].push_back(link);
  impl_->in[to].push_back(link);
  if (impl_->forwards[from] && impl_->forwards[to])
    boost::add_edge(to, from, width.base(), impl_->reversed);
  impl_->reaches.clear();
  return link;
}

std::optional<std::vector<LinkId>> LinkGraph::route(Vertex from, Vertex to,
                                                    std::size_t choice) const {
  std::vector<LinkId> route;
  if (from == to) return route;
  if (const auto link = impl_->direct(from, to)) return std::vector{*link};
  const auto ways = impl_->best_ways(from, to);
  if (ways.empty()) return std::nullopt;
  const auto& [entry, exit] = ways[choice % ways.size()];
  choice /= ways.size();
  if (entry.over) route.push_back(*entry.over);
  impl_->walk(entry.at, exit.at, choice, route);
  if (exit.over) route.push_back(*exit.over);
  return route;
}

BytesPerSecond LinkGraph::width(LinkId link) const {
  return BytesPerSecond{impl_->edges[link].width};
}

BytesPerSecond LinkGraph::width(const std::vector<LinkId>& route) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LinkId link : route) least = std::min(least, impl_->edges[link].width);
  return BytesPerSecond{least};
}

}  // namespace stepsim
