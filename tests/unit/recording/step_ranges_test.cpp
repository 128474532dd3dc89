// Which NVTX ranges are taken for steps.
#include <doctest/doctest.h>

#include "tests/unit/recording/sample_report.hpp"

using namespace stepsim;

namespace {

/// Eight launches, 10 us apart, from 5 us on.
SampleReport launches() {
  SampleReport report;
  for (int i = 0; i < 8; ++i)
    report.call("cudaLaunchKernel", 5 + 10 * i, 6 + 10 * i, i + 1)
        .kernel("k", 7 + 10 * i, 12 + 10 * i, i + 1);
  return report;
}

std::vector<std::string> steps(const SampleReport& report) {
  std::vector<std::string> names;
  for (const RecordedStep& step : report.recording().steps) names.push_back(step.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("ranges with a running number, or of one name") {
  CHECK(steps(launches().range("Iteration 9", 0, 40).range("Iteration 10", 40, 80)) ==
        Names{"Iteration 9", "Iteration 10"});
  CHECK(steps(launches().range("train_step", 0, 40).range("train_step", 45, 80)) ==
        Names{"train_step #1", "train_step #2"});
  CHECK(steps(launches().range("[pl][profile]run_training_batch, op_id = 7", 0, 80)) ==
        Names{"[pl][profile]run_training_batch #1"});
  CHECK(steps(launches().range("epoch 1 step 8", 0, 40).range("epoch 2 step 1", 40, 80)) ==
        Names{"epoch 1 step 8", "epoch 2 step 1"});
  CHECK(steps(launches()) == Names{});
}

TEST_CASE("ranges that overlap, whose numbers fall, or that hold few launches are no steps") {
  CHECK(steps(launches().range("step 1", 0, 40).range("step 2", 30, 80)) == Names{});
  CHECK(steps(launches().range("step 2", 0, 40).range("step 1", 40, 80)) == Names{});
  CHECK(steps(launches().range("step 1", 0, 4).range("step 2", 71, 80)) == Names{});
  SampleReport many = launches();
  for (int i = 0; i < 8; ++i)
    many.call("cudaLaunchKernel", 85 + i, 86 + i, i + 20).kernel("k", 100 + i, 101 + i, i + 20);
  CHECK(steps(many.range("first_step", 0, 10)) == Names{});
}

TEST_CASE("what is not called a step has to hold nearly all launches, three times") {
  const auto of = [](const std::string& name) {
    return launches().range(name + "1", 0, 30).range(name + "2", 30, 60).range(name + "3", 60, 80);
  };
  CHECK(steps(of("train ")) == Names{"train 1", "train 2", "train 3"});
  CHECK(steps(of("layer ")) == Names{});
  CHECK(steps(of("Optimizer.step#")) == Names{});
  CHECK(steps(launches().range("train 1", 0, 40).range("train 2", 40, 80)) == Names{});
  CHECK(steps(of("train ").range("forward", 0, 12)) == Names{"train 1", "train 2", "train 3"});
}

TEST_CASE("of several kinds, steps by name come first, then those that hold and take more") {
  SampleReport report =
      launches().range("run 1", 0, 30).range("run 2", 30, 60).range("run 3", 60, 80);
  CHECK(steps(report) == Names{"run 1", "run 2", "run 3"});
  report.range("step 5", 2, 38).range("step 6", 41, 79);
  CHECK(steps(report) == Names{"step 5", "step 6"});
  report.range("iteration 5", 1, 39).range("iteration 6", 40, 80);
  CHECK(steps(report) == Names{"iteration 5", "iteration 6"});
}

TEST_CASE("launches of another thread count") {
  SampleReport report = launches();
  report.range("step 1", 0, 40, 7, 2).range("step 2", 40, 80, 7, 2);
  CHECK(steps(report) == Names{"step 1", "step 2"});
}
