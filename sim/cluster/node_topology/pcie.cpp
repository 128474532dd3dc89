// A PCIe node: GPUs and NICs below PCIe switches, switches on the host bridges of CPUs, CPUs joined
// by UPI or xGMI. What GPUs send each other passes through whatever lies between them.
#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/node_graph.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

// A DGX-1 has two GPUs and a NIC below each switch (NVIDIA WP-08437-002, figure 4).
constexpr int kGpusPerSwitch = 2;
constexpr int kSockets = 2;
// The bandwidths that NCCL expects of a PCIe 3 x16 slot and between two Sapphire Rapids Xeons:
// PCI_BW and SPR_QPI_BW in NVIDIA/nccl v2.30.7 src/graph/topo.h (10 GB/s for Skylake, 16 for AMD).
constexpr BytesPerSecond kPcie3 = 12_GBps;
constexpr BytesPerSecond kSocketBandwidth = 22_GBps;

struct Shape {
  int gpus_per_switch, switches, sockets;
  int switch_of(int gpu) const { return gpu / gpus_per_switch; }
  int socket_of(int which) const { return which * sockets / switches; }
  bool has_switches() const { return gpus_per_switch > 1; }
};

Shape shape_of(const Cluster& cluster) {
  const NodeLayout& layout = cluster.node_topology;
  Shape shape{layout.gpus_per_switch.value_or(kGpusPerSwitch), 0, 0};
  shape.switches = shape.switch_of(cluster.gpus_per_node - 1) + 1;
  shape.sockets = layout.sockets.value_or(std::min(kSockets, shape.switches));
  return shape;
}

BytesPerSecond slot(const Cluster& cluster) {
  const BytesPerSecond own = gpu_payload(cluster);
  return cluster.node_topology.pcie_bandwidth.value_or(own > BytesPerSecond{} ? own : kPcie3);
}

NodeDrawing pcie_drawing(const Cluster& cluster) {
  const Shape shape = shape_of(cluster);
  const BytesPerSecond pcie = slot(cluster);
  NodeDrawing drawing{{fmt::format("cpu 0..{}", shape.sockets - 1)}, {}};
  const auto join = [&](std::string from, std::string to, BytesPerSecond width) {
    drawing.links.push_back({std::move(from), std::move(to), width, {}});
  };
  const auto cpu = [&](int which) { return fmt::format("cpu {}", shape.socket_of(which)); };
  const auto above = [&](int gpu) {
    const int which = shape.switch_of(gpu);
    return shape.has_switches() ? fmt::format("switch {}", which) : cpu(which);
  };
  for (int gpu = 0; gpu < cluster.gpus_per_node; ++gpu)
    join(fmt::format("gpu {}", gpu), above(gpu), pcie);
  for (int nic = 0; nic < nics_of(cluster); ++nic)
    join(fmt::format("nic {}", nic), above(first_gpu_of(nic, cluster)), pcie);
  if (shape.has_switches()) {
    drawing.switches.push_back(fmt::format("switch 0..{}", shape.switches - 1));
    for (int i = 0; i < shape.switches; ++i) join(fmt::format("switch {}", i), cpu(i), pcie);
  }
  if (shape.sockets > 1) {
    const std::string all = fmt::format("cpu 0..{}", shape.sockets - 1);
    join(all, all, cluster.node_topology.socket_bandwidth.value_or(kSocketBandwidth));
  }
  return drawing;
}

std::vector<Objection> pcie_objections(const Cluster& cluster) {
  const Shape shape = shape_of(cluster);
  if (shape.sockets <= shape.switches) return {};
  return {{"cluster.node_topology.sockets",
           fmt::format("{} sockets, but {} GPUs with {} below a switch fill {} switch{}",
                       shape.sockets, cluster.gpus_per_node, shape.gpus_per_switch, shape.switches,
                       shape.switches == 1 ? "" : "es"),
           ""}};
}

const Registered<NodeTopology> pcie{{
    .name = "pcie",
    .description = "GPUs and NICs below PCIe switches, below CPUs, which are joined to each other",
    .nvlink = false,
    .keys = {"gpus_per_switch", "sockets", "pcie_bandwidth", "socket_bandwidth"},
    .objections = pcie_objections,
    .lay_out = [](const Cluster& cluster) { return wiring_of(pcie_drawing(cluster), cluster); },
}};

}  // namespace
}  // namespace stepsim
