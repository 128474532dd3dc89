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
  const Experts plain{.count = 8, .top_k = 3};
  CHECK(parts_reached(plain, 4) == doctest::Approx(ranks / drawn).epsilon(1e-12));
  CHECK(parts_reached(plain, 2) == doctest::Approx(nodes / drawn).epsilon(1e-12));
}

TEST_CASE("a token whose experts are in some groups reaches as few parts as an enumeration finds") {
  // Two of the four experts in two of four groups of two; on 8, 4 and 2 ranks.
  double on8 = 0, on4 = 0, on2 = 0;
  int drawn = 0;
  for (int g = 0; g < 4; ++g) {
    for (int h = 0; h < g; ++h) {
      const int candidates[] = {2 * h, 2 * h + 1, 2 * g, 2 * g + 1};
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < a; ++b) {
          const int first = candidates[b], second = candidates[a];
          on8 += 2;
          on4 += static_cast<double>(std::set<int>{first / 2, second / 2}.size());
          on2 += static_cast<double>(std::set<int>{first / 4, second / 4}.size());
          ++drawn;
        }
      }
    }
  }
  const Experts grouped{.count = 8, .top_k = 2, .groups = 4, .top_groups = 2};
  CHECK(parts_reached(grouped, 8) == doctest::Approx(on8 / drawn).epsilon(1e-12));
  CHECK(parts_reached(grouped, 4) == doctest::Approx(on4 / drawn).epsilon(1e-12));
  CHECK(parts_reached(grouped, 2) == doctest::Approx(on2 / drawn).epsilon(1e-12));
  // DeepSeek-V3: 8 of 256 experts on 8 nodes of 8 ranks, in 4 groups of 8 at most.
  const Experts deepseek{.count = 256, .top_k = 8, .groups = 8, .top_groups = 4};
  CHECK(parts_reached(deepseek, 8) == doctest::Approx(3.63).epsilon(0.001));
}
