// From a node as it was seen to a cluster file: recognised where it is one of the built-in kinds,
// drawn where it is not.
#include "sim/command/seen_node.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cluster/node_topology.hpp"
#include "sim/command/seen_gpu.hpp"
#include "sim/command/show_cluster.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

/// One step of a ring of the Simple protocol over NVLink and over PCIe: hwLat in NVIDIA/nccl
/// v2.30.7 src/graph/tuning.cc.
constexpr const char* kNvlinkLatency = "3.4 us";
constexpr const char* kPcieLatency = "5.7 us";

class ClusterText {
 public:
  ClusterText(SeenNode node, const SeenGpu& gpu) : node_(std::move(node)), gpu_(gpu) {}

  std::string write() {
    choose_nics();
    const std::string inside = inside_text();
    const std::string between = between_text();
    std::string text = fmt::format("# Made from {}.\n", node_.source);
    for (const std::string& note : node_.notes) text += "# " + note + "\n";
    text += fmt::format("gpu: {}\nnodes: 1\ngpus_per_node: {}\n", gpu_.profile, node_.gpus);
    return text + inside + between;
  }

 private:
  void note(std::string text) { node_.notes.push_back(std::move(text)); }

  // --- NICs

  int nearest(int nic, int first, int gpus) const {
    int best = node_.apart[static_cast<std::size_t>(first)][static_cast<std::size_t>(nic)];
    for (int gpu = first; gpu < first + gpus; ++gpu)
      best =
          std::min(best, node_.apart[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(nic)]);
    return best;
  }

  /// One NIC for each of `count` equal blocks of GPUs, each as near as any; {}: there are not.
  std::vector<int> nics_for(int count) const {
    const int block = node_.gpus / count;
    const int all = static_cast<int>(node_.nics.size());
    std::vector<int> chosen;
    for (int i = 0; i < count; ++i) {
      int best = -1, least = nearest(0, i * block, block);
      for (int nic = 0; nic < all; ++nic) least = std::min(least, nearest(nic, i * block, block));
      for (int nic = all - 1; nic >= 0; --nic) {
        const bool is_free = std::find(chosen.begin(), chosen.end(), nic) == chosen.end();
        if (is_free && nearest(nic, i * block, block) == least) best = nic;
      }
      if (best < 0) return {};
      chosen.push_back(best);
    }
    return chosen;
  }

  /// As many NICs as divide the GPUs, each the nearest of its GPUs.
  void choose_nics() {
    if (node_.nics.empty()) return;
    for (int count = std::min(node_.gpus, static_cast<int>(node_.nics.size())); count >= 1;
         --count) {
      if (node_.gpus % count != 0) continue;
      chosen_ = nics_for(count);
      if (!chosen_.empty()) break;
    }
    std::vector<std::string> names;
    for (const int nic : chosen_) names.push_back(node_.nics[static_cast<std::size_t>(nic)]);
    note(fmt::format("NICs, in order: {}{}", fmt::join(names, ", "),
                     names.size() < node_.nics.size() ? "; the others are left out" : ""));
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

  std::string link_text(double gigabytes, const char* latency) const {
    return fmt::format("intra_node: {{bandwidth: {:g} GB/s, latency: {}}}\n", gigabytes, latency);
  }

  std::string inside_text() {
    if (node_.gpus == 1) return "";
    if (const int links = behind_switch(); links > 0) {
      if (links == gpu_.nvlinks && !gpu_.link.empty())
        return fmt::format("intra_node: {}\nnode_topology: nvswitch\n", gpu_.link);
      return link_text(links * gpu_.nvlink, kNvlinkLatency) + "node_topology: nvswitch\n";
    }
    if (is_cube_mesh()) return "intra_node: nvlink2-dgx1v\nnode_topology: hybrid_cube_mesh\n";
    return drawn_text();
  }

  bool is_cube_mesh() const {
    if (gpu_.profile != "v100" || node_.gpus != 8) return false;
    Cluster cluster;
    cluster.gpus_per_node = 8;
    cluster.intra_node.bandwidth = BytesPerSecond{6};  // one a link
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
    const auto found = std::find(chosen_.begin(), chosen_.end(), std::stoi(end.substr(4)));
    return found == chosen_.end() ? "" : fmt::format("nic {}", found - chosen_.begin());
  }

  std::string drawn_text() {
    int most = 0;
    std::string links;
    const auto add = [&](const std::string& from, const std::string& to, BytesPerSecond rate) {
      links +=
          fmt::format("    - {{from: {}, to: {}, bandwidth: {}}}\n", from, to, rate_text(rate));
    };
    for (int a = 0; a < node_.gpus; ++a) {
      most = std::max(most, links_of(a));
      for (int b = a + 1; b < node_.gpus; ++b) {
        const int count = node_.nvlinks[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
        if (count > 0)
          add(fmt::format("gpu {}", a), fmt::format("gpu {}", b),
              BytesPerSecond{count * gpu_.nvlink * 1e9});
      }
    }
    const BytesPerSecond slot = pcie_payload(gpu_.pcie, 16);
    for (const GraphLink& link : node_.pcie) {
      const std::string from = renamed(link.from), to = renamed(link.to);
      const bool is_said = link.bandwidth > BytesPerSecond{};
      if (!from.empty() && !to.empty()) add(from, to, is_said ? link.bandwidth : slot);
    }
    for (const std::string& assumed : node_.pcie_notes) note(assumed);
    const double pcie = slot.bytes_per_second() / 1e9;
    std::string text =
        most > 0 ? link_text(most * gpu_.nvlink, kNvlinkLatency) : link_text(pcie, kPcieLatency);
    text += "node_topology:\n  kind: custom\n";
    if (!node_.switches.empty())
      text += fmt::format("  switches: [{}]\n", fmt::join(node_.switches, ", "));
    return text + "  links:\n" + links;
  }

  // --- between nodes

  std::string between_text() {
    if (node_.nics.empty()) {
      note("No NIC was seen: add inter_node for more than one node.");
      return "";
    }
    double gigabits = node_.nic_bandwidth.bytes_per_second() * 8 / 1e9;
    if (gigabits <= 0) {
      gigabits = gpu_.nic;
      note(fmt::format("Assumed: NICs of {:g} Gbit/s.", gigabits));
    }
    note(
        "Assumed: the fabric, and 94 % of a NIC as payload (aliyun/SimAI calbusbw.h: 23.5 of 25 "
        "GB/s).");
    return fmt::format(
        "inter_node:\n  topology: rail\n  nics_per_node: {}\n  bandwidth: {:g} Gbit/s\n"
        "  efficiency: 0.94\n  latency: 14 us  # NVIDIA/nccl v2.30.7 src/graph/tuning.cc, NET\n",
        chosen_.size(), gigabits);
  }

  SeenNode node_;
  const SeenGpu& gpu_;
  std::vector<int> chosen_;  ///< of node_.nics, in the order of the cluster's
};

/// The one that is stated, that was recognised, or that has as many NVLinks.
const SeenGpu& gpu_for(SeenNode& node, const std::string& stated) {
  if (!stated.empty()) {
    if (const SeenGpu* gpu = seen_gpu(stated)) return *gpu;
    throw UserError(fmt::format("--gpu {}: imports know of no such GPU, {}", stated,
                                did_you_mean(stated, seen_gpus())));
  }
  if (const SeenGpu* gpu = seen_gpu(node.gpu)) return *gpu;
  int pair = node.switched, sum = node.switched;
  for (const auto& row : node.nvlinks) {
    sum = std::max(sum, std::accumulate(row.begin(), row.end(), 0));
    for (const int links : row) pair = std::max(pair, links);
  }
  const char* guess = pair > 12 ? "h100" : pair > 2 || sum == 0 ? "a100-80" : "v100";
  node.notes.push_back(fmt::format("Assumed: the GPU is {}; --gpu says another.", guess));
  return *seen_gpu(guess);
}

}  // namespace

std::string cluster_text(SeenNode node, const std::string& gpu) {
  const SeenGpu& known = gpu_for(node, gpu);
  return ClusterText(std::move(node), known).write();
}

}  // namespace stepsim
