// Errors of sources that nobody had seen.
#include "sim/validation/source_errors.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("suites of one publisher are a source, predicted without what it measured") {
  const RunTraits traits{"a100", "ampere", "dense transformer"};
  const std::vector<RecordedRuns> runs{{"a", traits, "", {0.1, 0.2}, "team", {-0.3, -0.1}},
                                       {"b", traits, "", {0.2}, "team"},
                                       {"c", traits, "", {-0.1}},
                                       {"c", traits, "slow", {-0.5}}};
  const SourceErrors errors = source_errors(runs);
  CHECK(errors.sources == 2);
  CHECK(errors.rows.count == 4);
  CHECK(errors.rows.mean == doctest::Approx(0.7 / 4));
  CHECK(errors.rows.bias == doctest::Approx(-0.3 / 4));
  CHECK(errors.mean == doctest::Approx((0.2 + 0.1) / 2));
  CHECK(errors.bias == doctest::Approx((-0.2 / 3 - 0.1) / 2));
  CHECK(errors.with_known.count == 5);
  CHECK(errors.with_known.max == doctest::Approx(0.5));
}
