// From a node as it was seen to a cluster file: recognised where it is one of the built-in kinds,
// drawn where it is not.
#include "sim/import/node/observed_node.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cluster/node_topology.hpp"
#include "sim/core/registry.hpp"
#include "sim/import/node/gpu_of_node.hpp"
#include "sim/import/node/known_gpu.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// The latency of a step of a ring of the Simple protocol over NVLink and over PCIe: hwLat in
/// NVIDIA/nccl v2.30.7 src/graph/tuning.cc.
constexpr const char* kNvlinkLatency = "3.4 us";
constexpr const char* kPcieLatency = "5.7 us";

constexpr std::size_t kLongestLine = 100;

/// "key: value  # comment", or a long comment above it.
std::string line(const std::string& text, const std::string& comment) {
  if (comment.empty()) return text + "\n";
  if (text.size() + comment.size() + 4 <= kLongestLine)
    return fmt::format("{}  # {}\n", text, comment);
  return fmt::format("{:{}}# {}\n{}\n", "", text.find_first_not_of(' '), comment, text);
}

class ClusterText {
 public:
  ClusterText(ObservedNode node, const KnownGpu& gpu) : node_(std::move(node)), gpu_(gpu) {}

  Draft write() {
    choose_nics();
    Draft draft(fmt::format("Made from {}.", node_.source));
    std::string text;
    for (const std::string& note : node_.notes) text += "# " + note + "\n";
    text += line(fmt::format("gpu: {}", gpu_.profile), node_.gpu_from);
    text += line("nodes: 1", "a scenario says how many");
    text += line(fmt::format("gpus_per_node: {}", node_.gpus), node_.gpus_from);
    text += inside_text() + between_text();
    text.pop_back();  // the draft ends the line
    draft.line(text);
    for (const Assumption& assumption : node_.assumptions) draft.assume(assumption);
    return draft;
  }

 private:
  void assume(const std::string& what, const std::string& value, const std::string& why,
              const std::string& state) {
    node_.assumptions.push_back({what, value, why, state});
  }

  // --- NICs

  int nearest(int nic, int first, int gpus) const {
    int best = node_.apart[static_cast<std::size_t>(first)][static_cast<std::size_t>(nic)];
    for (int gpu = first; gpu < first + gpus; ++gpu)
      best =
          std::min(best, node_.apart[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(nic)]);
    return best;
  }

  BytesPerSecond rate_of(int nic) const {
    const auto index = static_cast<std::size_t>(nic);
    return index < node_.nic_rates.size() ? node_.nic_rates[index] : BytesPerSecond{};
  }

  /// The NICs that are as fast as any: slower ones are for storage and for people.
  std::vector<int> fastest_nics() const {
    BytesPerSecond most;
    for (const BytesPerSecond rate : node_.nic_rates) most = std::max(most, rate);
    std::vector<int> fastest;
    for (int nic = 0; nic < static_cast<int>(node_.nics.size()); ++nic)
      if (rate_of(nic) >= most) fastest.push_back(nic);
    return fastest;
  }

  /// A NIC for each of `count` equal blocks of GPUs, each as near as any; {}: there are not so
  /// many.
  std::vector<int> nics_for(int count, const std::vector<int>& nics) const {
    const int block = node_.gpus / count;
    std::vector<int> chosen;
    for (int i = 0; i < count; ++i) {
      int best = -1, least = nearest(nics.front(), i * block, block);
      for (const int nic : nics) least = std::min(least, nearest(nic, i * block, block));
      for (const int nic : nics) {
        const bool is_free = std::ranges::find(chosen, nic) == chosen.end();
        if (best < 0 && is_free && nearest(nic, i * block, block) == least) best = nic;
      }
      if (best < 0) return {};
      chosen.push_back(best);
    }
    return chosen;
  }

  /// Chooses as many NICs as divide the GPUs, each the nearest of its GPUs.
  void choose_nics() {
    const std::vector<int> nics = fastest_nics();
    for (int count = std::min(node_.gpus, static_cast<int>(nics.size())); count >= 1; --count) {
      if (node_.gpus % count != 0) continue;
      chosen_ = nics_for(count, nics);
      if (!chosen_.empty()) break;
    }
  }

  /// A GPU may have several NICs, of which NCCL gives it one.
  void assume_fewer_nics() {
    const std::size_t fastest = fastest_nics().size();
    if (fastest <= chosen_.size()) return;
    assume(
        "inter_node.nics_per_node", fmt::format("{} of {} NICs", chosen_.size(), fastest),
        fmt::format("as many as divide {} GPUs, each the nearest of its own; the others may be "
                    "for storage",
                    node_.gpus),
        "inter_node.nics_per_node in the file; NICs that a GPU has together are one of their sum");
  }

  std::string chosen_text() const {
    std::vector<std::string> names;
    for (const int nic : chosen_) names.push_back(node_.nics[static_cast<std::size_t>(nic)]);
    return fmt::format("{}{}", fmt::join(names, ", "),
                       names.size() < node_.nics.size() ? "; the others are left out" : "");
  }

  // --- inside the node

  int links_of(int gpu) const {
    const auto& row = node_.nvlinks[static_cast<std::size_t>(gpu)];
    return std::accumulate(row.begin(), row.end(), 0);
  }

  /// The NVLinks that each pair shows when a switch joins them; 0 otherwise.
  int behind_switch() const {
    if (node_.switched > 0 || node_.gpus < 2) return node_.switched;
    const int each = node_.nvlinks[0][1];
    for (int a = 0; a < node_.gpus; ++a) {
      for (int b = 0; b < node_.gpus; ++b) {
        if (a != b &&
            node_.nvlinks[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] != each)
          return 0;
      }
    }
    // More than a GPU has: what is shown for each pair are the same links.
    return each * (node_.gpus - 1) > gpu_.nvlinks ? each : 0;
  }

  std::string link_text(double gigabytes, const char* latency, const std::string& from) const {
    return line(
        fmt::format("intra_node: {{bandwidth: {:g} GB/s, latency: {}}}", gigabytes, latency),
        fmt::format("{}; latency: NVIDIA/nccl v2.30.7 src/graph/tuning.cc", from));
  }

  std::string nvlinks_text(int links) const {
    const std::string from = node_.nvlinks_from.empty() ? node_.source : node_.nvlinks_from;
    return fmt::format("{} NVLinks a GPU: {}", links, from);
  }

  std::string nvlink_rate_text() const {
    return fmt::format("{:g} GB/s each: NVIDIA/nccl v2.30.7 src/graph/topo.h", gpu_.nvlink);
  }

  std::string slot_text() const {
    return node_.slot_from.empty()
               ? fmt::format("not seen: slots; PCIe at {:g} GT/s over 16 lanes", gpu_.pcie)
               : node_.slot_from;
  }

  std::string inside_text() {
    if (node_.gpus == 1) return "";
    if (const int links = behind_switch(); links > 0) {
      const std::string topology = "node_topology: nvswitch\n";
      if (links == gpu_.nvlinks && !gpu_.link.empty())
        return line(fmt::format("intra_node: {}", gpu_.link), nvlinks_text(links)) + topology;
      return link_text(links * gpu_.nvlink, kNvlinkLatency,
                       nvlinks_text(links) + ", " + nvlink_rate_text()) +
             topology;
    }
    if (is_cube_mesh())
      return line("intra_node: nvlink2-dgx1v", nvlinks_text(gpu_.nvlinks)) +
             "node_topology: hybrid_cube_mesh\n";
    return drawn_text();
  }

  bool is_cube_mesh() const {
    if (gpu_.profile != "v100" || node_.gpus != 8) return false;
    Cluster cluster;
    cluster.gpus_per_node = 8;
    cluster.intra_node.bandwidth =
        BytesPerSecond{6};  // six links of 1 B/s each: capacities count links
    const NodeWiring mesh = Registry<NodeTopology>::find("hybrid_cube_mesh")->lay_out(cluster);
    std::map<std::pair<std::string, std::string>, int> links;
    for (LinkId link = 0; link < mesh.capacities.size(); ++link)
      links[mesh.ends_of(link)] = static_cast<int>(mesh.capacities[link].bytes_per_second() + 0.5);
    for (int a = 0; a < 8; ++a) {
      for (int b = 0; b < 8; ++b) {
        const auto found = links.find({fmt::format("gpu {}", a), fmt::format("gpu {}", b)});
        const int there = found == links.end() ? 0 : found->second;
        if (node_.nvlinks[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] != there)
          return false;
      }
    }
    return true;
  }

  /// The NIC's number in the cluster, "" for one that is left out; other names as they are.
  std::string renamed(const std::string& end) const {
    if (!end.starts_with("nic ")) return end;
    const auto found = std::ranges::find(chosen_, std::stoi(end.substr(4)));
    return found == chosen_.end() ? "" : fmt::format("nic {}", found - chosen_.begin());
  }

  static std::string drawn_link(const std::string& from, const std::string& to,
                                BytesPerSecond rate) {
    return fmt::format("    - {{from: {}, to: {}, bandwidth: {}}}\n", from, to, rate_text(rate));
  }

  std::string drawn_nvlinks(int count, const std::string& from, const std::string& to) const {
    return count > 0 ? drawn_link(from, to, BytesPerSecond{count * gpu_.nvlink * 1e9}) : "";
  }

  /// NVLinks from GPU to GPU. `most`: those of the GPU with the most.
  std::string nvlinks_between_gpus(int& most) const {
    std::string links;
    for (int a = 0; a < node_.gpus; ++a) {
      most = std::max(most, links_of(a));
      for (int b = a + 1; b < node_.gpus; ++b)
        links +=
            drawn_nvlinks(node_.nvlinks[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)],
                          fmt::format("gpu {}", a), fmt::format("gpu {}", b));
    }
    return links;
  }

  /// NVLinks of some GPUs to a switch, which others have lost.
  std::string nvlinks_to_switch(int& most) {
    constexpr const char* kSwitch = "nvswitch";
    std::string links;
    std::vector<int> without;
    for (int gpu = 0; gpu < node_.gpus; ++gpu) {
      const auto& row = node_.nvlinks[static_cast<std::size_t>(gpu)];
      const int own = *std::max_element(row.begin(), row.end());
      most = std::max(most, own);
      if (own == 0) without.push_back(gpu);
      links += drawn_nvlinks(own, fmt::format("gpu {}", gpu), kSwitch);
    }
    node_.switches.emplace_back(kSwitch);
    if (!without.empty())
      assume(fmt::format("NVLinks of GPU {}", fmt::join(without, ", ")), "none",
             fmt::format("{} shows none, but those of all others: they may be down", node_.source),
             "node_topology: nvswitch in the file");
    return links;
  }

  /// Whether what pairs show are links to a switch: together they are more than a GPU has.
  bool are_switched_in_part() const {
    for (int gpu = 0; gpu < node_.gpus; ++gpu)
      if (links_of(gpu) > gpu_.nvlinks) return true;
    return false;
  }

  std::string drawn_text() {
    int most = 0;
    std::string links =
        are_switched_in_part() ? nvlinks_to_switch(most) : nvlinks_between_gpus(most);
    const BytesPerSecond slot =
        node_.slot > BytesPerSecond{} ? node_.slot : pcie_payload(gpu_.pcie, 16);
    const bool is_slot_known = node_.slot > BytesPerSecond{};
    bool has_slots = false;
    for (const GraphLink& link : node_.pcie) {
      const std::string from = renamed(link.from), to = renamed(link.to);
      const bool is_said = link.bandwidth > BytesPerSecond{};
      if (from.empty() || to.empty()) continue;
      has_slots = has_slots || !is_said;
      links += drawn_link(from, to, is_said ? link.bandwidth : slot);
      if (from == to)  // CPUs, each with each
        assume("between CPUs", fmt::format("{:g} GB/s", link.bandwidth.bytes_per_second() / 1e9),
               "as NCCL expects of such CPUs", "the last of node_topology.links in the file");
    }
    const double pcie = slot.bytes_per_second() / 1e9;
    if (has_slots && !is_slot_known)
      assume("PCIe", fmt::format("{:g} GB/s a slot and link", pcie),
             fmt::format("{} does not say; {:g} GT/s over 16 lanes, as systems with this GPU have",
                         node_.source, gpu_.pcie),
             "bandwidth of node_topology.links in the file");
    std::string text = most > 0 ? link_text(most * gpu_.nvlink, kNvlinkLatency,
                                            nvlinks_text(most) + ", " + nvlink_rate_text())
                                : link_text(pcie, kPcieLatency, slot_text());
    text += "node_topology:\n  kind: custom\n";
    if (!node_.switches.empty())
      text += fmt::format("  switches: [{}]\n", fmt::join(node_.switches, ", "));
    if (most > 0) text += fmt::format("  # NVLinks: {}.\n", nvlink_rate_text());
    if (has_slots)
      text += fmt::format("  # {:g} GB/s: {}.\n  # not seen: slots of NICs; as those of GPUs.\n",
                          pcie, slot_text());
    for (const std::string& note : node_.pcie_notes) text += fmt::format("  # {}.\n", note);
    return text + "  links:\n" + links;
  }

  // --- between nodes

  std::string between_text() {
    if (chosen_.empty()) return line("# not seen: a NIC; more than one node needs inter_node", "");
    double gigabits = rate_of(chosen_.front()).bytes_per_second() * 8 / 1e9;
    const bool is_seen = gigabits > 0;
    if (!is_seen) {
      gigabits = gpu_.nic;
      assume("inter_node.bandwidth", fmt::format("{:g} Gbit/s a NIC", gigabits),
             fmt::format("{} does not say; as systems with this GPU have", node_.source),
             "inter_node.bandwidth in the file");
    }
    assume_fewer_nics();
    // 23.5 of 25 GB/s and 48.5 of 50 (aliyun/SimAI calbusbw.h).
    const double payload = gigabits >= 400 ? 0.97 : 0.94;
    assume("fabric", fmt::format("rail, efficiency {:g}, 14 us a hop", payload),
           "a node does not see what joins it to others",
           "inter_node.topology, efficiency and latency in the file");
    return "inter_node:\n" + line("  topology: rail", "not seen: the fabric") +
           line(fmt::format("  nics_per_node: {}", chosen_.size()), chosen_text()) +
           line(fmt::format("  bandwidth: {:g} Gbit/s", gigabits),
                is_seen ? node_.rates_from : "not seen: as systems with this GPU have") +
           line(fmt::format("  efficiency: {:g}", payload),
                "not seen: payload; that of ConnectX in aliyun/SimAI calbusbw.h") +
           line("  latency: 14 us", "not seen: NVIDIA/nccl v2.30.7 src/graph/tuning.cc, NET");
  }

  ObservedNode node_;
  const KnownGpu& gpu_;
  std::vector<int> chosen_;  ///< indices in node_.nics, in the order of the cluster's NICs
};

}  // namespace

Draft cluster_draft(ObservedNode node, const std::string& gpu) {
  const KnownGpu& known = gpu_for(node, gpu);
  if (node.are_nvlinks_untold && node.gpus > 1 && !known.link.empty()) {
    node.switched = known.nvlinks;
    node.nvlinks_from = "not seen: NVLinks; as NVSwitch joins such modules";
    node.assumptions.push_back({"node_topology", "nvswitch",
                                fmt::format("{} has no NVLinks in it, of which the driver knows; "
                                            "as {} are joined",
                                            node.source, known.profile),
                                "--gpu of a card (l40s), or node_topology in the file"});
  }
  return ClusterText(std::move(node), known).write();
}

std::string cluster_text(ObservedNode node, const std::string& gpu) {
  return cluster_draft(std::move(node), gpu).text();
}

void check_cluster(const std::string& text, int gpus, const std::string& file) {
  std::istringstream lines(text);
  std::string scenario = fmt::format(
      "model: {{name: any, kind: mlp, layers: 1, width: 1}}\ntraining: {{global_batch: {}, "
      "precision: fp16}}\n"
      "cluster:\n  name: any\n",
      gpus);
  for (std::string line; std::getline(lines, line);) scenario += "  " + line + "\n";
  parse_scenario(scenario, file, library_for(file), {}, known_names());
}

}  // namespace stepsim
