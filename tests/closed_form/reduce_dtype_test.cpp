// Gradients that are kept in one type and reduced in another: each bucket is cast before its
// reduction and back behind it.
//
// L layers of psi parameters, kept in k bytes and reduced in r among N ranks: a bucket of a layer is
// cast by (k + r) psi bytes, divided by 2 r psi and reduced as r psi. What comes back is cast whole
// where it is reduced whole, and a share of it, 1 / N, where it is scattered.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/plan/memory/memory_buffers.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr int kLayers = 6, kRanks = 8;
constexpr double kLayer = 512.0 * 512;
using Times = std::vector<double>;

Experiment stack(const std::string& data, const std::string& gradients = "fp32") {
  return Experiment(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {}, width: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {}, intra_node: {{bandwidth: 200 GB/s, latency: 2 us}}}}
training: {{global_batch: 8, precision: fp16, gradients: {}, gradient_clipping: false}}
parallelism: {{data: {{bucket: 1 KiB, {}}}}}
run: {{steps: 1, warmup: 1}}
)",
                                kLayers, kRanks, gradients, data));
}

Times reduced(const Experiment& run) {
  Times bytes;
  for (const Task& task : run.plan.program(0).tasks) {
    if (task.kind == TaskKind::communicate && task.channel == Channel::data && task.step == 1)
      bytes.push_back(run.plan.operations[task.work].bytes.bytes());
  }
  return bytes;
}

/// Seconds of the kernels of that name in the last step of a rank.
Times kernels(const Experiment& run, const std::string& name) {
  Times seconds;
  for (const Task& task : run.plan.program(0).tasks) {
    if (task.kind != TaskKind::chain || task.step != 1) continue;
    for (const Kernel& kernel : run.plan.chains[task.work].kernels)
      if (run.plan.names[kernel.name] == name) seconds.push_back(kernel.seconds);
  }
  return seconds;
}

double time_of(const Experiment& run, double bytes) {
  return kernel_time(MemoryBound{Bytes{bytes}, MemoryRate::optimizer}, run.scenario.cluster.gpu)
      .seconds();
}

}  // namespace

TEST_CASE("each bucket is cast, divided, reduced narrower and cast back") {
  const Experiment run = stack("reduce_dtype: fp16");
  CHECK(reduced(run) == Times(kLayers, 2 * kLayer));
  CHECK(kernels(run, "cast bucket") == Times(kLayers, time_of(run, (4 + 2) * kLayer)));
  CHECK(kernels(run, "average gradients") == Times(kLayers, time_of(run, 2 * 2 * kLayer)));
  CHECK(kernels(run, "cast bucket back") == Times(kLayers, time_of(run, (4 + 2) * kLayer)));
  // Narrow gradients may be reduced in a wider type.
  const Experiment wide = stack("reduce_dtype: fp32", "fp16");
  CHECK(reduced(wide) == Times(kLayers, 4 * kLayer));
  CHECK(kernels(wide, "cast bucket") == kernels(run, "cast bucket"));
}

TEST_CASE("what is reduced as it is kept is not cast") {
  for (const char* data : {"sharding: ddp", "reduce_dtype: fp32"}) {
    const Experiment run = stack(data);
    CHECK(reduced(run) == Times(kLayers, 4 * kLayer));
    CHECK(kernels(run, "cast bucket").empty());
    CHECK(kernels(run, "cast bucket back").empty());
  }
}

TEST_CASE("of gradients that are scattered a rank casts its share back") {
  const Experiment run = stack("sharding: zero1, reduce_dtype: fp16");
  CHECK(reduced(run) == Times(kLayers, 2 * kLayer));
  CHECK(kernels(run, "cast bucket back") ==
        Times(kLayers, time_of(run, (4 + 2) * kLayer / kRanks)));
}

TEST_CASE("without overlap one kernel casts all gradients, and one casts them back") {
  const Experiment run = stack("overlap: false, reduce_dtype: fp16");
  CHECK(reduced(run) == Times{2 * kLayers * kLayer});
  CHECK(kernels(run, "cast buckets") == Times{time_of(run, (4 + 2) * kLayers * kLayer)});
  CHECK(kernels(run, "cast buckets back") == kernels(run, "cast buckets"));
}

TEST_CASE("a bucket that is reduced and one that is filled have a copy in the other type") {
  const double all = kLayers * kLayer;
  const auto held = [&](const std::string& data) {
    return bucket_bytes(stack(data).scenario, all).bytes();
  };
  CHECK(held("sharding: ddp") == 0);
  CHECK(held("reduce_dtype: fp16") == 2 * 1024 / 2);
  CHECK(held("overlap: false, reduce_dtype: fp16") == 1024.0 / 2);
  CHECK(held("bucket_views: false, reduce_dtype: fp16") == 4 * all + 2 * 1024 / 2);
  // DeepSpeed's buckets are of the type themselves: one, and its copy where ranks share gradients.
  Scenario zero2 = stack("sharding: zero2, overlap: false, reduce_dtype: fp16").scenario;
  zero2.framework = Framework::deepspeed;
  CHECK(bucket_bytes(zero2, all).bytes() == 2 * 1024 / 2);
}

TEST_CASE("PyTorch's hook divides the bucket that it has cast, in place of the copy") {
  const auto averaging = [](const std::string& data) {
    return scenario_of(fmt::format(R"(
framework: pytorch-ddp
model: {{name: m, kind: mlp, layers: 6, width: 512}}
cluster: dgx-h100
training: {{global_batch: 8, precision: bf16, gradients: fp32}}
parallelism: {{data: {{{}}}}}
)",
                                   data))
        .parallelism.data.averaging;
  };
  CHECK(averaging("sharding: ddp") == Averaging::gradient);
  CHECK(averaging("reduce_dtype: bf16") == Averaging::bucket);
  CHECK(averaging("reduce_dtype: bf16, averaging: gradient") == Averaging::gradient);
}
