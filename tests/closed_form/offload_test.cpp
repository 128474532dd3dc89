// Activations that are offloaded: behind each layer they leave at the rate of the PCIe link, and they
// come back one layer ahead of their backward pass.
//
// With f and b the time of a layer forward and backward and c that of its copy, L layers of one pass:
// two layers' activations are on the GPU at once, so that forward ends at the latest of the compute
// and of the copies before the last two, and backward begins when the last layer's are back:
//   c <= f, b:  L f + L b + 2 c, for the last layer's leave and come back in between
//   c >= f, b:  each layer waits for the copies: L c forward and L c backward and the last backward
#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr int kLayers = 6;

std::string decoder(const std::string& training) {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: 1, "
      "intra_node: {{bandwidth: 200 GB/s, latency: 3 us}}}}\n"
      "model: {{name: m, layers: {}, hidden: 512, heads: 8, ffn: 2048, vocabulary: 32000}}\n"
      "training: {{sequence_length: 1024, global_batch: 1, precision: fp16, attention: flash2, "
      "optimizer: sgd, gradient_clipping: false{}}}\nhost: {{launch: 0 us}}\nrun: {{steps: 1, "
      "warmup: 0}}\n",
      kLayers, training);
}

/// A layer that keeps so many bytes.
OpGraph layers_that_keep(Bytes bytes) {
  Op op;
  op.name = "op";
  op.forward = {lasting(1_ms)};
  op.backward = {lasting(2_ms)};
  op.saved = bytes;
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  block.dag.add(std::move(op), {});
  return paper_graph(std::move(block), kLayers);
}

double step_of(const std::string& training, double copy_ms) {
  Scenario scenario = on_paper(decoder(training));
  scenario.cluster.gpu.copy_pinned = BytesPerSecond{1e9};
  return Experiment(scenario, layers_that_keep(Bytes{copy_ms * 1e6})).step_seconds();
}

}  // namespace

TEST_CASE("copies of offloaded activations hide under the layers, but for the last one's") {
  const double plain = step_of("", 0.5);
  CHECK(step_of(", offload: {share: 1}", 0.5) - plain == nine_digits(2 * 0.5e-3));
  CHECK(step_of(", offload: {share: 0.5}", 1) - plain == nine_digits(2 * 0.5e-3));
}

TEST_CASE("copies that take longer than layers are what the step takes") {
  const double plain = step_of("", 0), f = 1e-3, b = 2e-3, c = 4e-3;
  // Copies follow each other without a pause: out from the first layer's end on, then back; behind
  // them the last layer is computed.
  const double expected = f + kLayers * c + kLayers * c + b;
  CHECK(step_of(", offload: {share: 1}", 4) - plain + kLayers * (f + b) == nine_digits(expected));
}

TEST_CASE("the share that leaves is missing at the peak, but for what is on its way") {
  const auto held = [](const std::string& training) {
    const Experiment e(decoder(training));
    return memory_of_stage(e.scenario, e.graph, 0).peak.held.activations.bytes();
  };
  const double all = held(""), none = held(", offload: {share: 1}");
  const double half = held(", offload: {share: 0.5}");
  // The peak is at the end of the layers: the last one, and the one before it that comes back.
  CHECK(none < all * 3 / kLayers);
  CHECK(half == nine_digits((all + none) / 2));
}
