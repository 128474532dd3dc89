// Gradient buckets of DistributedDataParallel (Li et al. 2020, section 3.2).
//
// A bucket is closed by the gradient that makes it reach its size; a gradient is never split. L
// equal gradients of g bytes with buckets of s therefore make ceil(L / ceil(s/g)) collectives. The
// first bucket is 1 MiB (so that reduction starts early) unless the user states a size, which then
// holds for all.
#include <cmath>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// The data-parallel collectives of a step of that stack, in order.
std::vector<double> buckets(int layers, int width, const std::string& data) {
  const Experiment experiment(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {}, width: {}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}}
training: {{global_batch: 64, micro_batch: 16, precision: fp32, gradient_clipping: false}}
parallelism: {{data: {{{}}}}}
run: {{steps: 1, warmup: 0}}
)",
                                          layers, width, data));
  std::vector<double> bytes;
  for (const Operation* operation : data_operations(experiment.plan)) {
    bytes.push_back(operation->bytes.bytes());
  }
  return bytes;
}

constexpr double kMiB = 0x1p20;

}  // namespace

TEST_CASE("gradients of 64 MiB make one bucket each, whatever the cap up to that") {
  for (const char* cap : {"bucket: 1 MiB", "bucket: 10 MiB", "bucket: 25 MiB", "bucket: 50 MiB",
                          "bucket: 64 MiB", ""}) {
    CAPTURE(cap);
    CHECK(buckets(20, 4096, cap) == std::vector<double>(20, 64 * kMiB));
  }
  CHECK(buckets(20, 4096, "bucket: 65 MiB") == std::vector<double>(10, 128 * kMiB));
}

TEST_CASE("400 gradients of 1 MiB close a stated bucket when they reach it") {
  for (const double cap : {1.0, 2.0, 2.5, 3.0, 25.0, 100.0, 250.0, 1000.0}) {
    CAPTURE(cap);
    const auto made = buckets(400, 512, fmt::format("bucket: {} MiB", cap));
    const double each = std::ceil(cap);
    CHECK(static_cast<double>(made.size()) == std::ceil(400 / each));
    for (std::size_t i = 0; i + 1 < made.size(); ++i) CHECK(made[i] == each * kMiB);
    CHECK(made.back() == (400 - each * (static_cast<double>(made.size()) - 1)) * kMiB);
  }
}

TEST_CASE("unless a size is stated the first bucket is 1 MiB, the others 25 MiB") {
  const auto made = buckets(400, 512, "");
  REQUIRE(made.size() == 17);
  CHECK(made.front() == kMiB);
  for (std::size_t i = 1; i < 16; ++i) CHECK(made[i] == 25 * kMiB);
  CHECK(made.back() == 24 * kMiB);
  CHECK(buckets(400, 512, "bucket: 25 MiB, first_bucket: 1 MiB") == made);
}

// From the model's front: 1 MiB, then 15 buckets of 25, and 24 that are left. Backward completes
// them the other way round.
TEST_CASE("in the order of forward the small bucket is the last, the incomplete one the first") {
  const auto made = buckets(400, 512, "bucket_order: forward");
  REQUIRE(made.size() == 17);
  CHECK(made.front() == 24 * kMiB);
  for (std::size_t i = 1; i < 16; ++i) CHECK(made[i] == 25 * kMiB);
  CHECK(made.back() == kMiB);
}

TEST_CASE("where all buckets are alike and full their order is nothing") {
  const auto made = buckets(400, 512, "bucket: 10 MiB, bucket_order: forward");
  CHECK(made == std::vector<double>(40, 10 * kMiB));
  CHECK(made == buckets(400, 512, "bucket: 10 MiB"));
}

TEST_CASE("without overlap all gradients are reduced at once") {
  CHECK(buckets(400, 512, "overlap: false") == std::vector<double>{400 * kMiB});
}
