// Rail-optimised fabric: NIC i of every node hangs on rail i, whose switches never block.
#include "sim/cluster/network.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

const Registered<Topology> rail{{
    .name = "rail",
    .description = "one non-blocking rail per NIC; only the NICs are shared",
    .links = [](const Cluster&) { return std::vector<Link>{}; },
    .route = [](const Cluster&, Port, Port, std::vector<LinkId>&) {},
}};

}  // namespace
}  // namespace stepsim
