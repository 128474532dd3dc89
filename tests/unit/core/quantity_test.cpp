// Quantities: dimensions are checked by the compiler, units by name.
#include "sim/core/quantity.hpp"

#include <type_traits>

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("bytes over bandwidth is time") {
  const Seconds t = 2_GB / 4_GBps;
  CHECK(t.seconds() == doctest::Approx(0.5));
  CHECK(t.milliseconds() == doctest::Approx(500));
}

TEST_CASE("equal dimensions cancel to a plain number") {
  static_assert(std::is_same_v<decltype(1_s / 1_ms), double>);
  CHECK(1_s / 1_ms == doctest::Approx(1000));
}

TEST_CASE("binary and decimal byte units differ") {
  CHECK(1_GiB > 1_GB);
  CHECK((1_MiB).bytes() == 1048576.0);
}
