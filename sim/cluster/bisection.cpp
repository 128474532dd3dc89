// Computes a maximum flow from the switches that the NICs of one half are plugged into to those of
// the other (push and relabel: Goldberg and Tarjan 1986, in Boost.Graph).
#include "sim/cluster/bisection.hpp"

#include <map>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace stepsim {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Vertex = Traits::vertex_descriptor;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, double,
        boost::property<boost::edge_residual_capacity_t, double,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

class Halves {
 public:
  Vertex vertex(const std::string& name) {
    const auto [entry, is_new] = vertices_.emplace(name, vertices_.size());
    return entry->second;
  }
  void join(Vertex from, Vertex to, BytesPerSecond capacity) {
    if (from != to) capacities_[{from, to}] += capacity.bytes_per_second();
  }
  double flow(Vertex from, Vertex to) const {
    Graph graph(vertices_.size());
    for (const auto& [ends, capacity] : capacities_) {
      const auto there = add_edge(ends.first, ends.second, graph).first;
      const auto back = add_edge(ends.second, ends.first, graph).first;
      put(boost::edge_capacity, graph, there, capacity);
      put(boost::edge_capacity, graph, back, 0.0);
      put(boost::edge_reverse, graph, there, back);
      put(boost::edge_reverse, graph, back, there);
    }
    return boost::push_relabel_max_flow(graph, from, to);
  }

 private:
  std::map<std::string, Vertex> vertices_;
  std::map<std::pair<Vertex, Vertex>, double> capacities_;
};

}  // namespace

BytesPerSecond bisection(const Network& network) {
  Halves halves;
  const Cluster& cluster = network.cluster();
  const Vertex first = halves.vertex("first half"), second = halves.vertex("second half");
  for (LinkId link = network.first_nic(); link < network.first_added(); ++link) {
    const BytesPerSecond capacity = network.links()[link].bandwidth;
    const auto [from, to] = network.ends_of(link);
    if (link >= network.first_switch()) {
      halves.join(halves.vertex(from), halves.vertex(to), capacity);
      continue;
    }
    // A NIC counts up in the first half, and down in the second.
    const bool is_up = network.is_up(link);
    const bool is_first = network.port_at(link).node < cluster.nodes / 2;
    if (is_up && is_first) halves.join(first, halves.vertex(to), capacity);
    if (!is_up && !is_first) halves.join(halves.vertex(from), second, capacity);
  }
  return BytesPerSecond{halves.flow(first, second)};
}

}  // namespace stepsim
