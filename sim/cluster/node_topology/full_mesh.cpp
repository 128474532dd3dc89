// Full mesh: each GPU has a link of its own to each other one, no switch.
//
// AMD Instinct MI300X platform datasheet: eight GPUs with seven xGMI links each. A link has the
// share of the bandwidth that is its GPU's over the number of the others; what two GPUs send each
// other takes their link alone, and rings close over links that no other ring takes (rings.hpp).
#include <fmt/format.h>

#include "sim/cluster/node_topology.hpp"
#include "sim/cluster/rings.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

NodeWiring lay_out_full_mesh(const Cluster& cluster) {
  const int others = cluster.gpus_per_node - 1;
  const BytesPerSecond width = others > 0 ? gpu_payload(cluster) / others : BytesPerSecond{};
  const auto link = [others](int from, int to) {
    return static_cast<LinkId>(from * others + (to < from ? to : to - 1));
  };
  const auto ends = [others](LinkId id) {
    const int from = static_cast<int>(id) / others, other = static_cast<int>(id) % others;
    return std::pair{from, other < from ? other : other + 1};
  };
  const auto nothing = [](int, int) { return std::vector<LinkId>{}; };
  return {
      .capacities = std::vector<BytesPerSecond>(
          static_cast<std::size_t>(cluster.gpus_per_node) * static_cast<std::size_t>(others),
          width),
      .name_of =
          [ends](LinkId id) {
            const auto [from, to] = ends(id);
            return fmt::format("gpu {} to gpu {}", from, to);
          },
      .ends_of =
          [ends](LinkId id) {
            const auto [from, to] = ends(id);
            return std::pair{fmt::format("gpu {}", from), fmt::format("gpu {}", to)};
          },
      .between =
          [link](int from, int to) {
            return from == to ? std::vector<LinkId>{} : std::vector{link(from, to)};
          },
      .to_nic = nothing,
      .from_nic = nothing,
      .rings =
          [width](const std::vector<int>& members) {
            return rings_over(members, [width](std::size_t i, std::size_t k) {
              return i == k ? Joint{} : Joint{1, width.bytes_per_second()};
            });
          },
  };
}

const Registered<NodeTopology> full_mesh{{
    .name = "full_mesh",
    .description = "each GPU has a link of its own to each other one: xGMI of MI300X",
    .keys = {},
    .lay_out = lay_out_full_mesh,
}};

}  // namespace
}  // namespace stepsim
