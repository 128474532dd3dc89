// Bytes that data parallelism moves in a step of one micro-batch (Rajbhandari et al. 2020,
// section 7): Psi parameters, n ranks, in units of Psi elements that a rank sends.
//
// A ring reduce-scatter sends (n-1)/n Psi, a ring all-gather the same, a ring all-reduce both.
//   DDP            all-reduce of the gradients                        2 (n-1)/n Psi
//   ZeRO 1, 2      reduce-scatter of gradients, gather of parameters  2 (n-1)/n Psi
//   ZeRO 3         gathers for forward and backward, reduce-scatter   3 (n-1)/n Psi
// The payload (what is handed to the collectives) is Psi, 2 Psi and 3 Psi.
#include <fmt/format.h>

#include "sim/plan/collective.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kElement = 2;  // fp16 gradients and parameters

Experiment sharded(const std::string& sharding, int n, bool overlap = true) {
  return Experiment(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 6, width: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: {{bandwidth: 200 GB/s, latency: 2 us}}}}
training: {{global_batch: {0}, precision: fp16, gradient_clipping: false}}
parallelism: {{data: {{sharding: {1}, overlap: {2}}}}}
)",
                                n, sharding, overlap));
}

CollectiveOp kind_of(const std::string& name) {
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather}) {
    if (name == name_of(op)) return op;
  }
  return CollectiveOp::reduce_scatter;
}

struct Volume {
  double payload = 0, sent = 0;  // bytes of one rank
};

Volume volume_of(const Plan& plan, int n) {
  Volume volume;
  for (const Operation* operation : data_operations(plan)) {
    const double bytes = operation->bytes.bytes();
    volume.payload += bytes;
    volume.sent += bytes * bus_factor(kind_of(plan.names[operation->name]), n);
  }
  return volume;
}

}  // namespace

TEST_CASE("DDP and ZeRO 1 and 2 move twice the parameters, ZeRO 3 three times") {
  struct Row {
    const char* sharding;
    double payload, sent;
  };
  constexpr double psi = 6.0 * 512 * 512 * kElement;
  for (const Row& row : {Row{"ddp", 1, 2}, {"zero1", 2, 2}, {"zero2", 2, 2}, {"zero3", 3, 3}}) {
    for (const int n : {2, 4, 8}) {
      for (const bool overlap : {true, false}) {
        CAPTURE(row.sharding);
        CAPTURE(n);
        CAPTURE(overlap);
        const Experiment experiment = sharded(row.sharding, n, overlap);
        const Volume volume = volume_of(experiment.plan, n);
        CHECK(volume.payload == nine_digits(row.payload * psi));
        CHECK(volume.sent == nine_digits(row.sent * (n - 1) / n * psi));
        const Metrics metrics = experiment.metrics();
        REQUIRE(metrics.communication.size() == 1);
        CHECK(metrics.communication[0].bytes.bytes() == nine_digits(row.payload * psi));
      }
    }
  }
}

TEST_CASE("a single replica moves nothing") {
  for (const char* sharding : {"ddp", "zero1", "zero2", "zero3"}) {
    CAPTURE(sharding);
    CHECK(data_operations(sharded(sharding, 1).plan).empty());
  }
}

// Gradients are read, divided by the number of replicas and written before they are reduced.
TEST_CASE("gradients are averaged once a step, whether they are reduced in buckets or at once") {
  constexpr double kRate = 1e9;
  constexpr double psi = 6.0 * 512 * 512 * kElement;
  for (const char* sharding : {"ddp", "zero1", "zero2"}) {
    for (const bool overlap : {true, false}) {
      CAPTURE(sharding);
      CAPTURE(overlap);
      Scenario scenario = sharded(sharding, 4, overlap).scenario;
      scenario.cluster.gpu = paper_gpu();
      scenario.cluster.gpu.memory_kernels.optimizer = BytesPerSecond{kRate};
      const Experiment experiment(scenario);
      double moved = 0;
      for (const Task& task : experiment.plan.program(0).tasks) {
        if (task.kind != TaskKind::chain || task.step != 0) continue;
        for (const Kernel& kernel : experiment.plan.chains[task.work].kernels) {
          if (experiment.plan.names[kernel.name] == "average gradients")
            moved += kernel.seconds * kRate;
        }
      }
      CHECK(moved == nine_digits(2 * psi));
    }
  }
}

// FSDP moves the gradients of a block before it scatters them: it writes them as one tensor, casts
// that to the type of the reduction where that is another, and divides it. Of P parameters:
// 16-bit gradients 2 x 2 + 2 x 2 = 8 bytes, fp32 ones 2 x 2 + (2 + 4) + 2 x 4 = 18.
TEST_CASE("ZeRO 3 flattens, casts and divides the gradients that it scatters") {
  struct Row {
    const char* gradients;
    double bytes;
  };
  constexpr double kRate = 1e9;
  constexpr double parameters = 6.0 * 512 * 512;
  for (const Row& row : {Row{"fp16", 8}, {"fp32", 18}}) {
    CAPTURE(row.gradients);
    Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 6, width: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 4, intra_node: {{bandwidth: 200 GB/s, latency: 2 us}}}}
training: {{global_batch: 4, precision: fp16, gradients: {}}}
parallelism: {{data: {{sharding: zero3}}}}
)",
                                             row.gradients));
    scenario.cluster.gpu.memory_kernels.optimizer = BytesPerSecond{kRate};
    const Experiment experiment(scenario);
    double moved = 0;
    for (const Task& task : experiment.plan.program(0).tasks) {
      if (task.kind != TaskKind::chain || task.step != 0) continue;
      for (const Kernel& kernel : experiment.plan.chains[task.work].kernels) {
        const std::string& name = experiment.plan.names[kernel.name];
        if (kernel.cause == Cause::backward && name.ends_with(" gradients"))
          moved += kernel.seconds * kRate;
      }
    }
    CHECK(moved == nine_digits(row.bytes * parameters));
  }
}
