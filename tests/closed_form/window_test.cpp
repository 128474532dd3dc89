// Attention that is narrower than the sequence: its FLOPs are those of the pairs that it sees.
//
// A token sees W keys, its own included, and the first ones of a sequence of s fewer:
//   s W - W^2 / 2 pairs of s^2 / 2 under a causal mask; c chunks of s / c have s^2 / 2 / c.
#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 8192, h = 1024;

std::string decoder(const std::string& window, const std::string& parallelism = "") {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: 4, hidden: 1024, heads: 8, vocabulary: 32000{}}}\n"
      "training: {{sequence_length: 8192, global_batch: 8, attention: flash3}}\n"
      "parallelism: {{{}}}\n",
      window, parallelism);
}

/// FLOPs of attention in a step, counted under the causal mask.
double attention(const std::string& window) {
  const auto flops = [](const std::string& yaml) {
    Scenario scenario = scenario_of(yaml);
    scenario.run.flops = "causal";
    return build(scenario).model_flops.flops();
  };
  return flops(decoder(window)) - flops(decoder(", window: {tokens: 1}"));
}

FusedAttention kernel(std::int64_t window) {
  FusedAttention work{
      .kernel = "flash3", .batch = 1, .heads = 8, .head_dim = 128, .sequence = 8192};
  work.window = window;
  return work;
}

}  // namespace

TEST_CASE("a window's FLOPs are those of the pairs that are seen") {
  // Forward and backward of eight sequences in four layers: 12 h a pair.
  const double unit = 8 * 4 * 12 * h;
  const double one = unit * (s - 0.5);  // each token sees itself
  CHECK(attention("") == nine_digits(unit * s * s / 2 - one));
  for (const double W : {128.0, 1024.0, 4096.0}) {
    CAPTURE(W);
    const double pairs = s * W - W * W / 2;
    CHECK(attention(fmt::format(", window: {{tokens: {}}}", W)) == nine_digits(unit * pairs - one));
    CHECK(kernel(static_cast<std::int64_t>(W)).flops().flops() == nine_digits(4 * h * pairs));
    // Every second layer attends to all.
    CHECK(attention(fmt::format(", window: {{tokens: {}, full_every: 2}}", W)) ==
          nine_digits(unit * (pairs + s * s / 2) / 2 - one));
    CHECK(attention(fmt::format(", window: {{tokens: {}, kind: chunk}}", W)) ==
          nine_digits(unit * s * W / 2 - one));
  }
  CHECK(attention(", window: {tokens: 8192}") == nine_digits(unit * s * s / 2 - one));
}

TEST_CASE("context ranks that trade the sequence for heads keep windows") {
  const auto flops = [](const std::string& window, const std::string& split) {
    return fused_attention_flops(build(scenario_of(decoder(window, split))));
  };
  for (const char* window :
       {"", ", window: {tokens: 1024}", ", window: {tokens: 1024, full_every: 2}",
        ", window: {tokens: 1024, kind: chunk}"}) {
    CAPTURE(window);
    CHECK(flops(window, "context: {degree: 4, kind: all_to_all}") ==
          nine_digits(flops(window, "") / 4));
  }
}

TEST_CASE("a narrower window never takes longer, and a wide one as long as none") {
  const GpuProfile gpu = scenario_of(decoder("")).cluster.gpu;
  double last = kernel_time(kernel(0), gpu).seconds();
  CHECK(kernel_time(kernel(8192), gpu).seconds() == nine_digits(last));
  for (const std::int64_t window : {8100, 4096, 1024, 128, 1}) {
    CAPTURE(window);
    const double time = kernel_time(kernel(window), gpu).seconds();
    CHECK(time <= last * (1 + 1e-9));
    last = time;
  }
  // aiconfigurator has 0.08 to 0.19 of full attention's time for 128 of 16384 tokens.
  FusedAttention full = kernel(0), narrow = kernel(128);
  full.sequence = narrow.sequence = 16384;
  const double ratio = kernel_time(narrow, gpu).seconds() / kernel_time(full, gpu).seconds();
  CHECK(ratio > 0.03);
  CHECK(ratio < 0.19);
}
