// Layers of hybrid models from patterns and from shares.
#include "sim/import/megatron/hybrid_pattern.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("a pattern is its layers, without stages and further tokens") {
  CHECK(layers_of_pattern("M-M*|M-ME/*E") == "M-M*M-ME");
  CHECK(layers_of_pattern("GEGEGE*E") == "GEGEGE*E");
  for (const char* text : {"", "MX", "M-D", "/ME"}) {
    CAPTURE(text);
    CHECK(!layers_of_pattern(text));
  }
}

TEST_CASE("depths of a pattern stand behind its layers, all of the same parts") {
  const auto depths = [](const char* text) {
    const auto found = depths_of_pattern(text);
    REQUIRE(found);
    return std::pair{found->letters, found->count};
  };
  CHECK(depths("M-M*") == std::pair<std::string, std::int64_t>{"", 0});
  CHECK(depths("M-M*/") == std::pair<std::string, std::int64_t>{"", 0});
  CHECK(depths("M-M*/*E") == std::pair<std::string, std::int64_t>{"*E", 1});
  CHECK(depths("M-|M*/*E/*E") == std::pair<std::string, std::int64_t>{"*E", 2});
  for (const char* text : {"M/*E/ME", "M/*D", "M/*E/", "M//*E"}) {
    CAPTURE(text);
    CHECK(!depths_of_pattern(text));
  }
}

TEST_CASE("shares spread attention between mixers and put MLPs in their places") {
  // The 8B hybrid of Waleffe et al. 2024 (arXiv 2406.07887): 24 mixers, 4 of attention, 28 MLPs.
  const std::string layers = layers_of_shares(56, 0.08, 0.5);
  CHECK(layers.size() == 56);
  CHECK(std::ranges::count(layers, '*') == 4);
  CHECK(std::ranges::count(layers, '-') == 28);
  CHECK(layers.front() == 'M');
  CHECK(layers_of_shares(8, 0, 0) == "MMMMMMMM");
  CHECK(layers_of_shares(7, 1.0 / 7, 0) == "MMM*MMM");
  CHECK(layers_of_shares(4, 0, 0.5) == "M-M-");
}
