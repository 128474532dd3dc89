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

/// The ends that links may name besides switches.
struct GraphEnds {
  std::vector<std::string> names;  ///< names of all ends: "node 0", "node 0 nic 0", ...
  std::string title;               ///< all names in short, for messages: "node 0..15"
};

class DrawnGraph {
 public:
  using Vertex = LinkGraph::Vertex;
  struct Edge {
    Vertex from = 0, to = 0;
    BytesPerSecond width;
  };

  /// Reads a drawing. `key` is the key of the map that has `switches` and `links`. A mistake
  /// becomes an objection, and what has it is left out.
  DrawnGraph(GraphEnds ends, const std::vector<std::string>& switches,
             const std::vector<GraphLink>& links, std::string key);

  const std::vector<Objection>& objections() const { return objections_; }
  /// Names by vertex: first the ends, then the switches.
  const std::vector<std::string>& names() const { return names_; }
  std::optional<Vertex> find(const std::string& name) const;
  bool is_switch(Vertex vertex) const { return vertex >= ends_; }
  bool has_links(Vertex vertex) const { return linked_[vertex]; }
  /// Directed edges by link: each cable has two, one after the other.
  const std::vector<Edge>& edges() const { return edges_; }
  /// The name of a link: "leaf0 to spine".
  std::string name_of(LinkId link) const;

  /// The graph for routes. The first `forwarding` ends pass traffic on, as switches do.
  LinkGraph routes(std::size_t forwarding) const;

  /// Adds an objection unless there is a route between every two of the ends.
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
  std::set<std::pair<Vertex, Vertex>> cables_;  ///< cables by their vertices, the lower one first
  std::vector<Objection> objections_;
};

}  // namespace stepsim
