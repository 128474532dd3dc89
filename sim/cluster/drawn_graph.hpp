// A graph as a scenario draws it: switches, and links between named ends, many at once where names
// hold ranges ("node 0..15", "leaf 0..3").
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/cluster/link_graph.hpp"
#include "sim/core/objection.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What links may name besides switches.
struct GraphEnds {
  std::vector<std::string> names;  ///< "node 0", "node 0 nic 0", ...
  std::string title;               ///< of all of them, for messages: "node 0..15"
};

class DrawnGraph {
 public:
  using Vertex = LinkGraph::Vertex;
  struct Edge {
    Vertex from = 0, to = 0;
    BytesPerSecond width;
  };

  /// `key` is that of the map with `switches` and `links`. What is wrong becomes an objection, and
  /// is left out.
  DrawnGraph(GraphEnds ends, const std::vector<std::string>& switches,
             const std::vector<GraphLink>& links, std::string key);

  const std::vector<Objection>& objections() const { return objections_; }
  /// By vertex: the ends, then the switches.
  const std::vector<std::string>& names() const { return names_; }
  std::optional<Vertex> find(const std::string& name) const;
  bool is_switch(Vertex vertex) const { return vertex >= ends_; }
  bool has_links(Vertex vertex) const { return linked_[vertex]; }
  /// By link: each cable has two, one after the other.
  const std::vector<Edge>& edges() const { return edges_; }
  /// "leaf0 to spine"
  std::string name_of(LinkId link) const;

  /// Of the ends the first `forwarding` pass traffic on, as switches do.
  LinkGraph routes(std::size_t forwarding) const;

  /// Adds an objection unless there is a route between each two of the ends.
  void require_routes(const std::vector<Vertex>& ends, std::size_t forwarding);

 private:
  void add_switches(const std::vector<std::string>& switches);
  void add_links(const GraphLink& link, const std::string& key);
  void add_cable(Vertex from, Vertex to, const GraphLink& link, const std::string& key);
  std::vector<Vertex> resolve(const std::string& text, const std::string& key);
  bool forwards(Vertex vertex, std::size_t forwarding) const;
  std::vector<int> components(std::size_t forwarding) const;
  std::vector<int> touched(Vertex end, std::size_t forwarding,
                           const std::vector<int>& component) const;
  void object(const std::string& key, std::string message, std::string proposal = "");

  std::string key_;
  std::string title_;
  std::vector<std::string> names_;
  std::size_t ends_ = 0;
  std::map<std::string, Vertex> vertices_;
  std::vector<Edge> edges_;
  std::vector<std::vector<LinkId>> out_;
  std::vector<bool> linked_;
  std::set<std::pair<Vertex, Vertex>> cables_;  ///< lower vertex first
  std::vector<Objection> objections_;
};

}  // namespace stepsim
