// Memory: bytes a parameter (Rajbhandari et al. 2020, section 3) and activations a layer
// (Korthikanti et al. 2022, section 4).
//
// Mixed precision with Adam keeps 2 B of parameters, 2 of gradients and 12 of optimizer state (fp32
// weights and two moments): 16 B, of which ZeRO 1 divides the last part by N ranks, ZeRO 2 the last
// two, ZeRO 3 all. fp32 gradients add 2 B; without mixed precision there is no second copy of the
// weights: 4 + 4 + 8.
//
// A layer of hidden size h with a heads keeps for a micro-batch of b sequences of s tokens, 16-bit,
// in t tensor ranks:
//   nothing split           s b h (34 + 5 a s/h)
//   tensor parallel         s b h (10 + 24/t + 5 a s/(h t))
//   and sequence parallel   s b h / t (34 + 5 a s/h)
//   selective recompute     without the 5 a s/h of the attention scores
//   full recompute          2 s b h, the input
#include "sim/plan/memory/memory.hpp"

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

double bytes(const Training& training, Sharding sharding, int ranks) {
  return bytes_per_parameter(training, sharding, ranks).total();
}

constexpr double s = 512, b = 2, h = 1024, heads = 16;
constexpr double kScores = 5 * heads * s / h;

double saved(int t, bool sequence, Recompute recompute) {
  const Scenario scenario = scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 1024, heads: 16, vocabulary: 32000}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: nvlink3}}
training: {{attention: unfused, sequence_length: 512, global_batch: 2, micro_batch: 2, precision: fp16}}
parallelism: {{tensor: {0}, sequence: {1}}}
)",
                                                    t, sequence));
  const OpGraph graph = build(scenario);
  for (const Block& block : graph.blocks) {
    if (block.recomputable) return block.saved(recompute).bytes();
  }
  return 0;
}

}  // namespace

TEST_CASE("mixed precision with Adam takes 16, 4+12/N, 2+14/N and 16/N bytes a parameter") {
  const Training mixed{.precision = Precision::bf16, .gradients = Precision::bf16};
  for (const int N : {1, 2, 8, 64, 1000}) {
    CAPTURE(N);
    CHECK(bytes(mixed, sharding_named("ddp"), N) == nine_digits(16));
    CHECK(bytes(mixed, sharding_named("zero1"), N) == nine_digits(4 + 12.0 / N));
    CHECK(bytes(mixed, sharding_named("zero2"), N) == nine_digits(2 + 14.0 / N));
    CHECK(bytes(mixed, sharding_named("zero3"), N) == nine_digits(16.0 / N));
  }
}

TEST_CASE("fp32 gradients take 18, 6+12/N, 2+16/N and 18/N bytes a parameter") {
  const Training wide{.precision = Precision::fp16, .gradients = Precision::fp32};
  for (const int N : {1, 2, 8, 64, 1000}) {
    CAPTURE(N);
    CHECK(bytes(wide, sharding_named("ddp"), N) == nine_digits(18));
    CHECK(bytes(wide, sharding_named("zero1"), N) == nine_digits(6 + 12.0 / N));
    CHECK(bytes(wide, sharding_named("zero2"), N) == nine_digits(2 + 16.0 / N));
    CHECK(bytes(wide, sharding_named("zero3"), N) == nine_digits(18.0 / N));
  }
}

TEST_CASE("fp32 takes 16 bytes a parameter with Adam, 12 with momentum and 8 with SGD") {
  Training fp32{.precision = Precision::fp32, .gradients = Precision::fp32};
  CHECK(bytes(fp32, sharding_named("ddp"), 8) == nine_digits(16));
  fp32.optimizer = "momentum";
  CHECK(bytes(fp32, sharding_named("ddp"), 8) == nine_digits(12));
  fp32.optimizer = "sgd";
  CHECK(bytes(fp32, sharding_named("ddp"), 8) == nine_digits(8));
}

TEST_CASE("a layer keeps s b h (34 + 5 a s/h) bytes, and 34 s b h with selective recompute") {
  CHECK(saved(1, false, Recompute::none) == nine_digits(s * b * h * (34 + kScores)));
  CHECK(saved(1, false, Recompute::selective) == nine_digits(s * b * h * 34));
  CHECK(saved(1, false, Recompute::full) == nine_digits(s * b * h * 2));
}

TEST_CASE("tensor parallelism splits 24 of the 34 and the attention scores") {
  for (const int t : {2, 4, 8}) {
    CAPTURE(t);
    CHECK(saved(t, false, Recompute::none) ==
          nine_digits(s * b * h * (10 + 24.0 / t + kScores / t)));
    CHECK(saved(t, false, Recompute::selective) == nine_digits(s * b * h * (10 + 24.0 / t)));
    CHECK(saved(t, false, Recompute::full) == nine_digits(s * b * h * 2));
  }
}

TEST_CASE("sequence parallelism splits all of it") {
  for (const int t : {2, 4, 8}) {
    CAPTURE(t);
    CHECK(saved(t, true, Recompute::none) == nine_digits(s * b * h / t * (34 + kScores)));
    CHECK(saved(t, true, Recompute::selective) == nine_digits(s * b * h / t * 34));
  }
}
