// Hybrid cube mesh of the DGX-1 with V100: eight GPUs with six NVLinks each, no switch.
//
// Two quads, each GPU joined to the other three and to its partner in the other quad, some by two
// links: NVIDIA, "DGX-1 with Tesla V100 System Architecture" (WP-08437-002), figure 4. Pairs that
// share no link (0 and 5, say) go through a GPU that both are joined to. Below, PCIe: each two GPUs
// and a NIC share a switch, each two switches a CPU.
#include <fmt/format.h>

#include "sim/cluster/node_graph.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

constexpr int kGpus = 8;
constexpr int kLinksOfGpu = 6;

struct Joined {
  int a, b, links;
};
constexpr Joined kMesh[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
                            {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
                            {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};

// The bandwidths that NCCL expects of a PCIe 3 x16 slot and between two Broadwell Xeons: PCI_BW and
// BDW_QPI_BW in NVIDIA/nccl v2.30.7 src/graph/topo.h.
constexpr BytesPerSecond kPcie3 = 12_GBps;
constexpr BytesPerSecond kSockets = 6_GBps;

NodeDrawing cube_mesh_drawing(const Cluster& cluster) {
  const BytesPerSecond link = gpu_payload(cluster) / kLinksOfGpu;
  const BytesPerSecond pcie = cluster.node_topology.pcie_bandwidth.value_or(kPcie3);
  NodeDrawing drawing{{"switch 0..3", "cpu 0..1"}, {}};
  const auto join = [&](std::string from, std::string to, BytesPerSecond width) {
    drawing.links.push_back({std::move(from), std::move(to), width, {}});
  };
  const auto gpu = [](int number) { return fmt::format("gpu {}", number); };
  const auto plx = [](int number) { return fmt::format("switch {}", number / 2); };
  for (const Joined& pair : kMesh) {
    if (pair.a < cluster.gpus_per_node && pair.b < cluster.gpus_per_node)
      join(gpu(pair.a), gpu(pair.b), link * pair.links);
  }
  for (int i = 0; i < cluster.gpus_per_node; ++i) join(gpu(i), plx(i), pcie);
  for (int nic = 0; nic < nics_of(cluster); ++nic)
    join(fmt::format("nic {}", nic), plx(first_gpu_of(nic, cluster)), pcie);
  for (int i = 0; i < kGpus; i += 2) join(plx(i), fmt::format("cpu {}", i / 4), pcie);
  join("cpu 0", "cpu 1", cluster.node_topology.socket_bandwidth.value_or(kSockets));
  return drawing;
}

std::vector<Objection> cube_mesh_objections(const Cluster& cluster) {
  if (cluster.gpus_per_node <= kGpus) return {};
  return {{"cluster.gpus_per_node",
           fmt::format("a hybrid cube mesh has {} GPUs, not {}", kGpus, cluster.gpus_per_node),
           ""}};
}

const Registered<NodeTopology> hybrid_cube_mesh{{
    .name = "hybrid_cube_mesh",
    .description = "DGX-1 with V100: eight GPUs, each joined to four others by one or two NVLinks",
    .keys = {"pcie_bandwidth", "socket_bandwidth"},
    .objections = cube_mesh_objections,
    .lay_out =
        [](const Cluster& cluster) { return wiring_of(cube_mesh_drawing(cluster), cluster); },
}};

}  // namespace
}  // namespace stepsim
