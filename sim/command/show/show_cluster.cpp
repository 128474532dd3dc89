// The table of a cluster's links.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "sim/cluster/bisection.hpp"
#include "sim/cluster/link_names.hpp"
#include "sim/command/show.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// Links whose names differ in numbers alone; the pattern is what `background` may say for all.
struct Kind {
  std::string pattern;
  BytesPerSecond bandwidth, background;
  std::string from, to;
  std::int64_t count = 0;
};

std::string with_stars(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) pattern += c;
    if (is_digit && !pattern.ends_with('*')) pattern += '*';
  }
  return pattern;
}

class Kinds {
 public:
  void add(const Network& network, LinkId link, BytesPerSecond background) {
    const std::string pattern = with_stars(network.name_of(link));
    const BytesPerSecond bandwidth = network.links()[link].bandwidth;
    // Most links are as the one before the last: they come in pairs.
    const auto found = std::find_if(kinds_.rbegin(), kinds_.rend(), [&](const Kind& kind) {
      return kind.bandwidth == bandwidth && kind.background == background &&
             kind.pattern == pattern;
    });
    if (found != kinds_.rend()) {
      ++found->count;
      return;
    }
    const auto [from, to] = network.ends_of(link);
    kinds_.push_back({pattern, bandwidth, background, with_stars(from), with_stars(to), 1});
  }

  void print(std::ostream& out) const {
    std::size_t width = 0;
    for (const Kind& kind : kinds_) width = std::max(width, kind.pattern.size());
    for (const Kind& kind : kinds_) {
      out << fmt::format("  {:<{}}  {:>9} x {:>10}   {} to {}{}\n", kind.pattern, width,
                         grouped(kind.count), rate_text(kind.bandwidth), kind.from, kind.to,
                         kind.background > BytesPerSecond{}
                             ? fmt::format(", {} of others", rate_text(kind.background))
                             : "");
    }
  }

 private:
  std::vector<Kind> kinds_;
};

void show_bisection(const Network& network, std::ostream& out) {
  const Cluster& cluster = network.cluster();
  if (cluster.nodes < 2) return;
  const BytesPerSecond most = bisection(network);
  const double nics = static_cast<double>(cluster.nodes / 2) * nics_of(cluster);
  const BytesPerSecond sent = nic_payload(*cluster.inter_node) * nics;
  out << fmt::format("bisection: {} each way, {} of what the NICs of half of the nodes send\n",
                     rate_text(most), percent(most / sent));
}

}  // namespace

void show_links(const std::string& title, const Network& network, std::ostream& out) {
  const Cluster& cluster = network.cluster();
  out << fmt::format("{}: {} node{} of {} {}\n", title, grouped(cluster.nodes),
                     cluster.nodes == 1 ? "" : "s", cluster.gpus_per_node, cluster.gpu.name);
  std::vector<BytesPerSecond> background(network.links().size());
  for (const LinkLoad& load : background_of(network)) background[load.link] = load.rate;
  Kinds inside, between;
  for (LinkId link = 0; link < network.links().size(); ++link)
    (link < network.first_nic() ? inside : between).add(network, link, background[link]);
  out << fmt::format("inside nodes, {}:\n", cluster.node_topology.kind);
  inside.print(out);
  if (!cluster.inter_node) return;
  out << fmt::format("between nodes, {}:\n", cluster.inter_node->topology);
  between.print(out);
  show_bisection(network, out);
}

}  // namespace stepsim
