// Turns of two passes, and where the experts of a token are.
#include "sim/plan/pass/overlap.hpp"

#include <cmath>
#include <cstdint>
#include <set>

#include <doctest/doctest.h>

#include "sim/ops/token_routes.hpp"

using namespace stepsim;

namespace {

/// Kernels, an exchange, the other's turn, and what waits for it.
Segment with_exchanges(int count) {
  Segment segment;
  for (int i = 0; i < count; ++i) {
    if (i > 0) segment.emplace_back(WaitPiece{i - 1});
    segment.emplace_back(ChainPiece{});
    segment.emplace_back(StartPiece{.channel = channel_along(Axis::expert), .slot = i});
    segment.emplace_back(TurnPiece{});
  }
  segment.emplace_back(ChainPiece{});
  return segment;
}

}  // namespace

TEST_CASE("the first pass begins, and each exchange is the other's turn") {
  const Segment first = with_exchanges(2), second = with_exchanges(2);
  CHECK(take_turns({&first, &second}) ==
        std::vector<Turn>{{0, 0, 3}, {1, 0, 3}, {0, 3, 7}, {1, 3, 7}, {0, 7, 8}, {1, 7, 8}});
}

TEST_CASE("the pass with more exchanges goes on when the other is through") {
  const Segment few = with_exchanges(0), many = with_exchanges(2);
  CHECK(take_turns({&few, &many}) == std::vector<Turn>{{0, 0, 1}, {1, 0, 3}, {1, 3, 7}, {1, 7, 8}});
  CHECK(take_turns({&many, &few}) == std::vector<Turn>{{0, 0, 3}, {1, 0, 1}, {0, 3, 7}, {0, 7, 8}});
  const Segment none;
  CHECK(take_turns({&none, &none}).empty());
}

TEST_CASE("a token reaches the ranks and nodes that an enumeration of all choices finds") {
  // Three of 8 experts, on 4 ranks and 2 nodes.
  double ranks = 0, nodes = 0;
  int drawn = 0;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < a; ++b) {
      for (int c = 0; c < b; ++c) {
        ranks += static_cast<double>(std::set<int>{a / 2, b / 2, c / 2}.size());
        nodes += static_cast<double>(std::set<int>{a / 4, b / 4, c / 4}.size());
        ++drawn;
      }
    }
  }
  const TokenRoutes routes = token_routes({8, 3, {}}, 4, 2);
  CHECK(routes.ranks == doctest::Approx(ranks / drawn).epsilon(1e-12));
  CHECK(routes.nodes == doctest::Approx(nodes / drawn).epsilon(1e-12));
}

TEST_CASE("a token that is limited to some nodes reaches fewer ranks") {
  // DeepSeek-V3: 8 of 256 experts on 8 nodes of 8 ranks, 4 nodes at most.
  const TokenRoutes limited = token_routes({256, 8, 4}, 64, 8);
  CHECK(limited.nodes == doctest::Approx(3.63).epsilon(0.001));
  CHECK(limited.nodes < token_routes({256, 8, {}}, 64, 8).nodes);
  CHECK(limited.ranks < token_routes({256, 8, {}}, 64, 8).ranks);
  // Eight experts of a token, four on each node: all of two nodes.
  CHECK(token_routes({16, 8, 2}, 4, 4).nodes == doctest::Approx(2));
  CHECK(token_routes({16, 8, 2}, 4, 4).ranks == doctest::Approx(2));
  CHECK(token_routes({8, 8, {}}, 8, 1).ranks == doctest::Approx(8));
}
