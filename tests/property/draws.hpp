// How many random draws a test makes, and from which seed on: a few fixed ones always, many that
// nobody has seen among the long tests. STEPSIM_DRAWS and STEPSIM_SEED say so; the seed "fresh" is
// taken from the clock, and printed, so that it can be stated again.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace stepsim {

struct DrawSeeds {
  std::uint64_t first = 0, count = 0;
};

inline DrawSeeds draw_seeds(std::uint64_t usual) {
  const char* count = std::getenv("STEPSIM_DRAWS");
  const char* seed = std::getenv("STEPSIM_SEED");
  DrawSeeds draws{.count = count == nullptr ? usual : std::strtoull(count, nullptr, 10)};
  if (seed != nullptr && std::string(seed) == "fresh") {
    using Clock = std::chrono::system_clock;
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch());
    draws.first = static_cast<std::uint64_t>(now.count());
  } else if (seed != nullptr) {
    draws.first = std::strtoull(seed, nullptr, 10);
  }
  MESSAGE("STEPSIM_SEED=" << draws.first << " STEPSIM_DRAWS=" << draws.count);
  return draws;
}

}  // namespace stepsim
