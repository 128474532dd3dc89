// A directed graph of links, and the best ways through it: the fewest links, then the widest.
//
// Where several ways are as good, the destination chooses (d-mod-k: Zahavi 2010, "Optimized
// InfiniBand fat-tree routing for shift all-to-all communication patterns"), so that transfers to
// different places spread over parallel switches, and each pair keeps to one path.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/cluster/topology.hpp"

namespace stepsim {

class LinkGraph {
 public:
  using Vertex = std::uint32_t;

  LinkGraph();
  /// Adds a vertex. One that does not forward (a NIC, say) only begins and ends routes. Vertices
  /// count from 0.
  Vertex add_vertex(bool forwards);
  /// Adds a link in one direction. Links count from 0. REQUIRES: width > 0.
  LinkId add_link(Vertex from, Vertex to, BytesPerSecond width);

  /// The links from one vertex to another in order; absent when there is no way. `choice` is the
  /// number of the destination.
  std::optional<std::vector<LinkId>> route(Vertex from, Vertex to, std::size_t choice = 0) const;

  BytesPerSecond width(LinkId link) const;
  /// The width of the slowest link of a route.
  BytesPerSecond width(const std::vector<LinkId>& route) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< copies of a graph share it
};

}  // namespace stepsim
