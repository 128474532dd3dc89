// The picture of a cluster's links, in the language of Graphviz.
//
// All nodes are alike: the first is drawn from inside, each other one as a box. Where there are
// many nodes only a few are drawn, two of each of the first regions, and the links between them.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "sim/cluster/network.hpp"
#include "sim/command/show.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kAllOf = 16;    // nodes: so many are drawn one and all
constexpr std::size_t kWithout = 8;   // nodes that are drawn of a larger fabric without regions
constexpr std::size_t kOfRegion = 2;  // nodes of a leaf, leaves of a pod, ...

/// The first few of each region, and regions that are among the first few of theirs.
std::vector<int> drawn_nodes(const Network& network) {
  const int nodes = network.cluster().nodes;
  std::vector<int> drawn;
  std::map<std::pair<std::size_t, int>, std::set<int>> parts;  // nodes that are drawn, by region
  for (int node = 0; node < nodes; ++node) {
    std::vector<int> chain = network.regions(node);
    const std::size_t most = nodes <= static_cast<int>(kAllOf) ? kAllOf
                             : chain.empty()                   ? kWithout
                                                               : kOfRegion;
    chain.insert(chain.begin(), node);
    chain.push_back(0);  // all there is
    bool draw = true;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      const auto& here = parts[{i, chain[i + 1]}];
      draw = draw && (here.count(chain[i]) > 0 || here.size() < most);
    }
    if (!draw) continue;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) parts[{i, chain[i + 1]}].insert(chain[i]);
    drawn.push_back(node);
  }
  return drawn;
}

class Picture {
 public:
  Picture(const std::string& title, const Network& network, std::ostream& out)
      : title_(title), network_(network), out_(out), nodes_(drawn_nodes(network)) {}

  void draw() {
    const Cluster& cluster = network_.cluster();
    out_ << fmt::format(
        "digraph \"{}\" {{\n  graph [rankdir=BT, label=\"{}\"];\n"
        "  node [shape=box, style=rounded];\n",
        title_, label());
    draw_inside();
    for (const int node : nodes_) {
      if (node != 0) out_ << fmt::format("  \"node {}\" [shape=box3d, style=\"\"];\n", node);
    }
    for (const LinkId link : drawn_links()) add(link);
    draw_links();
    if (cluster.inter_node && nics_of(cluster) > 0) draw_own_nics();
    out_ << "}\n";
  }

 private:
  std::string label() const {
    const int all = network_.cluster().nodes;
    const auto drawn = static_cast<int>(nodes_.size());
    const std::string nodes =
        fmt::format("{}: {} node{} of {} {}", title_, grouped(all), all == 1 ? "" : "s",
                    network_.cluster().gpus_per_node, network_.cluster().gpu.name);
    return drawn == all ? nodes : fmt::format("{}; {} of them here", nodes, drawn);
  }

  /// The box that stands for an end: other nodes than the first are one each.
  std::string box(const std::string& end) const {
    if (!end.starts_with("node ") || end.starts_with("node 0 ")) return end;
    return end.substr(0, end.find(' ', 5));
  }

  void draw_inside() {
    const Cluster& cluster = network_.cluster();
    out_ << "  subgraph \"cluster_node 0\" {\n    label=\"node 0\";\n";
    for (int gpu = 0; gpu < cluster.gpus_per_node; ++gpu)
      out_ << fmt::format("    \"node 0 gpu {}\" [label=\"gpu {}\", style=filled];\n", gpu, gpu);
    for (int nic = 0; nic < nics_of(cluster); ++nic)
      out_ << fmt::format("    \"node 0 nic {}\" [label=\"nic {}\", shape=cds];\n", nic, nic);
    std::set<std::string> others;
    for (LinkId link = 0; link < network_.first_nic() / static_cast<LinkId>(cluster.nodes); ++link)
      others.insert(network_.ends_of(link).first);
    for (const std::string& end : others) {
      if (!end.starts_with("node 0 gpu") && !end.starts_with("node 0 nic"))
        out_ << fmt::format("    \"{}\" [label=\"{}\"];\n", end, end.substr(7));
    }
    out_ << "  }\n";
  }

  /// The links of the first node and of all NICs here, and what lies between them.
  std::set<LinkId> drawn_links() const {
    const Cluster& cluster = network_.cluster();
    std::set<LinkId> links;
    for (LinkId link = 0; link < network_.first_nic() / static_cast<LinkId>(cluster.nodes); ++link)
      links.insert(link);
    if (nodes_.size() == static_cast<std::size_t>(cluster.nodes)) {
      for (LinkId link = network_.first_nic(); link < network_.links().size(); ++link)
        links.insert(link);
      return links;
    }
    for (const int from : nodes_) {
      for (const int to : nodes_) {
        for (int nic = 0; nic < nics_of(cluster); ++nic) {
          for (const LinkId link : network_.route(Port{from, nic}, Port{to, nic}))
            links.insert(link);
        }
      }
    }
    return links;
  }

  using Arrow = std::pair<std::string, std::string>;
  using Widths = std::map<double, int>;  ///< how many of which bandwidth

  void add(LinkId link) {
    const auto [from, to] = network_.ends_of(link);
    const Arrow arrow{box(from), box(to)};
    if (arrow.first == arrow.second) return;
    ++arrows_[arrow][network_.links()[link].bandwidth.bytes_per_second()];
  }

  static std::string text(const Widths& widths) {
    std::string text;
    for (const auto& [width, count] : widths) {
      if (!text.empty()) text += " + ";
      if (count > 1) text += fmt::format("{} x ", count);
      text += rate_text(BytesPerSecond{width});
    }
    return text;
  }

  void draw_links() const {
    for (const auto& [arrow, widths] : arrows_) {
      const auto back = arrows_.find({arrow.second, arrow.first});
      const bool both = back != arrows_.end() && back->second == widths;
      if (both && arrow.second < arrow.first) continue;
      out_ << fmt::format("  \"{}\" -> \"{}\" [label=\"{}\"{}];\n", arrow.first, arrow.second,
                          text(widths), both ? ", dir=both" : "");
    }
  }

  /// Where no link joins a GPU and its NIC, a dotted line says which is whose.
  void draw_own_nics() const {
    for (int gpu = 0; gpu < network_.cluster().gpus_per_node; ++gpu) {
      if (!network_.to_nic(gpu).empty()) continue;
      out_ << fmt::format("  \"node 0 gpu {}\" -> \"node 0 nic {}\" [style=dotted, dir=none];\n",
                          gpu, network_.port_of(gpu).nic);
    }
  }

  const std::string& title_;
  const Network& network_;
  std::ostream& out_;
  const std::vector<int> nodes_;
  std::map<Arrow, Widths> arrows_;
};

}  // namespace

void draw_links(const std::string& title, const Network& network, std::ostream& out) {
  Picture(title, network, out).draw();
}

}  // namespace stepsim
