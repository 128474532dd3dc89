// A core's typical step: each operator at its median over the steps that have the same ones.
#include <doctest/doctest.h>

#include "sim/recording/core_device.hpp"
#include "tests/unit/recording/sample_trace.hpp"

namespace stepsim {
namespace {

/// Steps of two products, which take so many us.
TypicalStep typical(const std::vector<std::pair<int, int>>& steps) {
  SampleTrace trace;
  int at = 1000;
  for (const auto& [first, second] : steps) {
    trace.annotation(fmt::format("ProfilerStep#{}", at), fmt::format("{}", at), "1000")
        .operation("aten::mm", fmt::format("{}", at), fmt::format("{}", first))
        .operation("aten::mm", fmt::format("{}", at + first + 10), fmt::format("{}", second));
    at += 1000;
  }
  return observe(with_core_as_device(recording_of(trace.document())), sample_kinds()).typical;
}

double products_s(const TypicalStep& step) {
  return step.kinds[static_cast<std::size_t>(KernelKind::gemm)];
}

TEST_CASE("one long time in one step does not count") {
  const TypicalStep step = typical({{100, 200}, {100, 900}, {400, 200}});
  CHECK(step.steps == 3);
  CHECK(products_s(step) == doctest::Approx(300e-6));
}

TEST_CASE("of an even number of steps the two in the middle count alike") {
  CHECK(products_s(typical({{100, 300}, {300, 100}})) == doctest::Approx(400e-6));
  CHECK(products_s(typical({{100, 10}, {200, 10}, {300, 10}, {900, 10}})) ==
        doctest::Approx(260e-6));
}

}  // namespace
}  // namespace stepsim
