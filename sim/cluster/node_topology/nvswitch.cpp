// NVSwitch: each GPU has one link out and one in, to switches that never block.
#include <fmt/format.h>

#include "sim/cluster/node_topology.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

LinkId out_of(int gpu) { return static_cast<LinkId>(2 * gpu); }
LinkId into(int gpu) { return static_cast<LinkId>(2 * gpu + 1); }

NodeWiring lay_out_nvswitch(const Cluster& cluster) {
  const int gpus = cluster.gpus_per_node > 1 ? cluster.gpus_per_node : 0;
  const auto nothing = [](int, int) { return std::vector<LinkId>{}; };
  return {
      .capacities =
          std::vector<BytesPerSecond>(2 * static_cast<std::size_t>(gpus), gpu_payload(cluster)),
      .name_of =
          [](LinkId link) {
            return fmt::format("gpu {} {}", link / 2, link % 2 == 0 ? "out" : "in");
          },
      .ends_of =
          [](LinkId link) {
            const std::string gpu = fmt::format("gpu {}", link / 2), other = "nvswitch";
            return link % 2 == 0 ? std::pair{gpu, other} : std::pair{other, gpu};
          },
      .between =
          [](int from, int to) {
            return from == to ? std::vector<LinkId>{} : std::vector{out_of(from), into(to)};
          },
      .to_nic = nothing,
      .from_nic = nothing,
      .rings =
          [](const std::vector<int>& members) {
            return std::vector<Ring>{{1, members}};
          },
  };
}

const Registered<NodeTopology> nvswitch{{
    .name = "nvswitch",
    .description = "each GPU has a link out and a link in, to switches that never block",
    .nvswitch = true,
    .keys = {},
    .lay_out = lay_out_nvswitch,
}};

}  // namespace
}  // namespace stepsim
