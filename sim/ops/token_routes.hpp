// Where the experts of a token are: on how many ranks and nodes, on average over uniform choices.
//
// k of E experts are chosen, all choices alike. One of m equal parts of them, a rank or a node, has
// none of the k with probability C(E - E/m, k) / C(E, k), so that m times the rest is the number of
// parts that a token reaches. A router that is limited to L of N nodes chooses among E L / N.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct TokenRoutes {
  double ranks = 1, nodes = 1;  ///< that the token reaches, its own included
};

struct ChosenExperts {
  std::int64_t count = 1;    ///< experts
  std::int64_t top_k = 1;    ///< experts of one token
  std::optional<int> nodes;  ///< the most nodes that have experts of one token
};

/// The experts of the scenario's model. REQUIRES: it has experts.
ChosenExperts chosen_experts(const Scenario& scenario);

/// `ranks` on `nodes` have the experts, each equally many. REQUIRES: so many nodes as a token is
/// limited to have its experts.
TokenRoutes token_routes(const ChosenExperts& chosen, int ranks, int nodes);

}  // namespace stepsim
