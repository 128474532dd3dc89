// Reads drawn graphs, and finds whether they hang together.
#include "sim/cluster/drawn_graph.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/cluster/name_ranges.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

constexpr const char* kNoRange = "'{}' is no range that counts up, or more than 100000 names";
constexpr std::size_t kMostEdges = 10'000'000;  // far above any machine, and fits in memory

/// A union-find structure: each vertex points towards the representative of its component.
class Components {
 public:
  explicit Components(std::size_t count) : towards_(count) {
    std::iota(towards_.begin(), towards_.end(), 0);
  }
  int of(std::size_t vertex) {
    while (towards_[vertex] != vertex) vertex = towards_[vertex] = towards_[towards_[vertex]];
    return static_cast<int>(vertex);
  }
  void join(std::size_t a, std::size_t b) {
    towards_[static_cast<std::size_t>(of(a))] = static_cast<std::size_t>(of(b));
  }

 private:
  std::vector<std::size_t> towards_;
};

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

DrawnGraph::DrawnGraph(GraphEnds ends, const std::vector<std::string>& switches,
                       const std::vector<GraphLink>& links, std::string key)
    : key_(std::move(key)), title_(std::move(ends.title)), names_(std::move(ends.names)) {
  ends_ = names_.size();
  for (std::size_t i = 0; i < ends_; ++i) vertices_.emplace(names_[i], static_cast<Vertex>(i));
  add_switches(switches);
  linked_.resize(names_.size());
  out_.resize(names_.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    add_links(links[i], fmt::format("{}.links[{}]", key_, i));
}

void DrawnGraph::object(const std::string& key, std::string message, std::string proposal) {
  objections_.push_back({key, std::move(message), std::move(proposal)});
}

void DrawnGraph::add_switches(const std::vector<std::string>& switches) {
  for (const std::string& text : switches) {
    const auto names = expanded(text);
    if (!names) {
      object(key_ + ".switches", fmt::format(kNoRange, text));
      continue;
    }
    if (text.empty() || text.find('*') != std::string::npos) {
      object(key_ + ".switches", fmt::format("'{}' is no name", text),
             "as in leaf0, or \"leaf 0..3\"");
      continue;
    }
    for (const std::string& name : *names) {
      if (vertices_.emplace(name, static_cast<Vertex>(names_.size())).second) {
        names_.push_back(name);
      } else {
        object(key_ + ".switches", fmt::format("'{}' is there twice", name));
      }
    }
  }
}

std::optional<DrawnGraph::Vertex> DrawnGraph::find(const std::string& name) const {
  const auto found = vertices_.find(name);
  if (found == vertices_.end()) return std::nullopt;
  return found->second;
}

std::vector<DrawnGraph::Vertex> DrawnGraph::resolve(const std::string& text,
                                                    const std::string& key) {
  const auto names = expanded(text);
  if (!names) {
    object(key, fmt::format(kNoRange, text));
    return {};
  }
  std::vector<Vertex> found;
  for (const std::string& name : *names) {
    if (const auto vertex = find(name)) {
      found.push_back(*vertex);
      continue;
    }
    const std::vector<std::string> switches(names_.begin() + static_cast<std::ptrdiff_t>(ends_),
                                            names_.end());
    std::string proposal = closest(name, switches);
    if (proposal.empty()) {
      proposal = fmt::format("links join {}", title_);
      if (!switches.empty()) proposal += fmt::format(", {}", contracted(switches));
    }
    object(key, fmt::format("there is no '{}' to link", name), proposal);
    return {};  // one mistake is enough: the other names of a range are as wrong
  }
  return found;
}

void DrawnGraph::add_links(const GraphLink& link, const std::string& key) {
  const auto from = resolve(link.from, key + ".from");
  const auto to = resolve(link.to, key + ".to");
  if (edges_.size() + 2 * from.size() * to.size() > kMostEdges)
    return object(key, fmt::format("more than {} links", kMostEdges));
  // a range that is linked to itself: each name with each other
  if (link.from == link.to && from.size() > 1) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      for (std::size_t k = i + 1; k < to.size(); ++k) add_cable(from[i], to[k], link, key);
    }
    return;
  }
  for (const Vertex a : from) {
    for (const Vertex b : to) add_cable(a, b, link, key);
  }
}

void DrawnGraph::add_cable(Vertex from, Vertex to, const GraphLink& link, const std::string& key) {
  // One mistake says enough about all links of a range.
  if (!objections_.empty() && objections_.back().path == key) return;
  if (from == to) return object(key, fmt::format("a link from {} to itself", names_[from]));
  if (!cables_.insert(std::minmax(from, to)).second)
    return object(key, fmt::format("{} and {} are linked twice", names_[from], names_[to]),
                  "add their bandwidths up in one link");
  linked_[from] = linked_[to] = true;
  out_[from].push_back(static_cast<LinkId>(edges_.size()));
  edges_.push_back({from, to, link.bandwidth});
  out_[to].push_back(static_cast<LinkId>(edges_.size()));
  edges_.push_back({to, from, link.back.value_or(link.bandwidth)});
}

std::string DrawnGraph::name_of(LinkId link) const {
  return fmt::format("{} to {}", names_[edges_[link].from], names_[edges_[link].to]);
}

bool DrawnGraph::forwards(Vertex vertex, std::size_t forwarding) const {
  return is_switch(vertex) || vertex < forwarding;
}

LinkGraph DrawnGraph::routes(std::size_t forwarding) const {
  LinkGraph graph;
  for (Vertex v = 0; v < names_.size(); ++v) graph.add_vertex(forwards(v, forwarding));
  for (const Edge& edge : edges_) graph.add_link(edge.from, edge.to, edge.width);
  return graph;
}

std::vector<int> DrawnGraph::components(std::size_t forwarding) const {
  Components components(names_.size());
  for (const Edge& edge : edges_) {
    if (forwards(edge.from, forwarding) && forwards(edge.to, forwarding))
      components.join(edge.from, edge.to);
  }
  std::vector<int> result(names_.size());
  for (std::size_t v = 0; v < result.size(); ++v) result[v] = components.of(v);
  return result;
}

/// The components that an end can send through. A link between two ends is a component of its own,
/// with a negative number.
std::vector<int> DrawnGraph::touched(Vertex end, std::size_t forwarding,
                                     const std::vector<int>& component) const {
  if (!has_links(end)) return {};
  if (forwards(end, forwarding)) return {component[end]};
  std::set<int> found;
  for (const LinkId link : out_[end]) {
    const Vertex other = edges_[link].to;
    found.insert(forwards(other, forwarding) ? component[other] : -1 - static_cast<int>(link / 2));
  }
  return {found.begin(), found.end()};
}

void DrawnGraph::require_routes(const std::vector<Vertex>& ends, std::size_t forwarding) {
  if (!objections_.empty()) return;  // a mistake may be the reason why links are missing
  const std::vector<int> component = components(forwarding);
  std::map<std::vector<int>, std::vector<std::string>> alike;
  for (const Vertex end : ends) alike[touched(end, forwarding, component)].push_back(names_[end]);
  if (const auto alone = alike.find({}); alone != alike.end() && ends.size() > 1)
    return object(key_ + ".links", fmt::format("no link joins {}", contracted(alone->second)));
  for (auto a = alike.begin(); a != alike.end(); ++a) {
    for (auto b = std::next(a); b != alike.end(); ++b) {
      if (overlap(a->first, b->first)) continue;
      return object(
          key_ + ".links",
          fmt::format(
              "no route from {} to {}: what leads to {} and what leads to {} have no switch "
              "in common, and nothing else forwards",
              a->second.front(), b->second.front(), contracted(a->second), contracted(b->second)),
          "join the two parts by a switch");
    }
  }
}

}  // namespace stepsim
