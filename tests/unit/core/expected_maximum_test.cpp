// The mean of the largest of n normal draws against its closed forms and tables.
#include "sim/core/expected_maximum.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("the largest of two and of three normal draws has a closed form") {
  CHECK(expected_maximum_of_normals(1) == 0);
  CHECK(expected_maximum_of_normals(2) ==
        doctest::Approx(1 / std::sqrt(std::numbers::pi)).epsilon(1e-9));
  CHECK(expected_maximum_of_normals(3) ==
        doctest::Approx(1.5 / std::sqrt(std::numbers::pi)).epsilon(1e-9));
}

// H. L. Harter, Expected values of normal order statistics, Biometrika 48 (1961), table 1.
TEST_CASE("the largest of more draws is that of the published table") {
  CHECK(expected_maximum_of_normals(8) == doctest::Approx(1.42360).epsilon(4e-6));
  CHECK(expected_maximum_of_normals(100) == doctest::Approx(2.50759).epsilon(4e-6));
  CHECK(expected_maximum_of_normals(400) == doctest::Approx(2.96818).epsilon(4e-6));
}

TEST_CASE("more draws reach further, up to those of a large cluster") {
  double before = 0;
  for (int n = 2; n <= 1 << 20; n *= 2) {
    const double now = expected_maximum_of_normals(n);
    CHECK(now > before);
    CHECK(now < std::sqrt(2 * std::log(n)));
    before = now;
  }
}
