// Products that are split beside the exchanges of tensor ranks.
//
// Each of t ranks multiplies its own piece of the tokens while that of the rank before comes: with g
// the time of a piece's product and c that of its transfer, t pieces take
//   g + (t - 1) max(g, c).
// A result that is scattered piece by piece takes n g + r where a piece's reduction r is shorter than
// a product, of which the last one's stays behind.
#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

std::string split(int tensor, double bandwidth, const std::string& how) {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: {}, "
      "intra_node: {{bandwidth: {} GB/s, efficiency: 1, latency: 0 us}}}}\n"
      "model: {{name: m, layers: 1, hidden: 4096, heads: 32, vocabulary: 32000, bias: false}}\n"
      "training: {{sequence_length: 4096, global_batch: 1, attention: flash2, optimizer: sgd, "
      "gradient_clipping: false}}\n"
      "parallelism: {{tensor: {}, sequence: true, split_products: {}}}\n"
      "collectives: {{reduce_scatter: ring}}\n"
      "host: {{launch: 0 us}}\nrun: {{steps: 1, warmup: 0}}\n",
      tensor, bandwidth, tensor, how);
}

/// The pieces of one linear layer forward, of width 4096.
struct Pieces {
  explicit Pieces(const Scenario& s)
      : pass(pass_of(s, named_style(s.training))),
        op(column_linear(pass, "up", 4096, 4096, false)) {}
  int count() const {
    return static_cast<int>(std::ranges::count_if(
        op.forward, [](const Item& item) { return std::holds_alternative<Launch>(item); }));
  }
  double product(const GpuProfile& gpu) const {
    for (const Item& item : op.forward) {
      if (const auto* launch = std::get_if<Launch>(&item))
        return kernel_time(launch->work, gpu).seconds();
    }
    return 0;
  }
  Pass pass;
  Op op;
};

/// The step of a model that is that op's forward pass and nothing else.
double forward_seconds(const Scenario& s, Op op) {
  op.backward = {};
  op.parameters = {};
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  block.dag.add(std::move(op), {});
  return Experiment(s, paper_graph(std::move(block), 1)).step_seconds();
}

}  // namespace

TEST_CASE("a gathered operand goes around while its pieces are multiplied") {
  for (const double bandwidth : {400.0, 10.0}) {
    for (const int t : {2, 4}) {
      CAPTURE(t);
      CAPTURE(bandwidth);
      Scenario s = scenario_of(split(t, bandwidth, "user_buffers"));
      s.cluster.gpu.memory_bandwidth = BytesPerSecond{1e18};  // transfers slow no product
      const Pieces pieces(s);
      CHECK(pieces.count() == t);
      const double g = pieces.product(s.cluster.gpu);
      const double c = 4096.0 / t * 4096 * 2 / (bandwidth * 1e9);
      const double step = forward_seconds(s, pieces.op);
      CHECK(step == doctest::Approx(g + (t - 1) * std::max(g, c)).epsilon(1e-3));
    }
  }
}

TEST_CASE("one kernel whose tiles wait takes as long as whole, beside what comes for it") {
  for (const double bandwidth : {400.0, 10.0}) {
    for (const int t : {2, 4}) {
      CAPTURE(t);
      CAPTURE(bandwidth);
      Scenario s = scenario_of(split(t, bandwidth, "flux"));
      s.cluster.gpu.memory_bandwidth = BytesPerSecond{1e18};  // transfers slow no product
      const Pieces pieces(s);
      CHECK(pieces.count() == t);
      CHECK(std::ranges::count_if(pieces.op.forward, [](const Item& item) {
              const auto* launch = std::get_if<Launch>(&item);
              return launch != nullptr && !launch->continues;
            }) == 1);
      const Gemm whole{4096, 4096, 4096, 1, false, Precision::bf16};
      const double g = kernel_time(whole, s.cluster.gpu).seconds() / t;
      CHECK(pieces.product(s.cluster.gpu) == doctest::Approx(g).epsilon(1e-12));
      const double c = 4096.0 / t * 4096 * 2 / (bandwidth * 1e9);
      const double step = forward_seconds(s, pieces.op);
      CHECK(step == doctest::Approx(g + (t - 1) * std::max(g, c)).epsilon(1e-3));
    }
  }
}

TEST_CASE("splitting changes no FLOPs, parameters or bytes of the tensor ranks") {
  const Experiment whole(split(4, 25, "none"));
  for (const char* how : {"user_buffers", "async_tp", "flux"}) {
    CAPTURE(how);
    const Experiment e(split(4, 25, how));
    CHECK(e.graph.model_flops.flops() == nine_digits(whole.graph.model_flops.flops()));
    CHECK(e.step_seconds() < whole.step_seconds());
  }
}
