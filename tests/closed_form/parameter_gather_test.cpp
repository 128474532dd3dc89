// Parameters that are gathered beside forward passes (Megatron-LM's overlap_param_gather), and the
// host's look at gradients (check_for_nan_in_grad).
//
// L = 4 layers of 1e9 elements, 2 GB each, forward 30 ms and backward 10 ms. A ring of two gathers
// a layer in 2 GB / 2 / 100 GB/s = 10 ms and reduces its gradients in as long; optimizer and
// launches are free. Each layer is a bucket.
//   all behind the update      40 ms of gathers, L (30 + 10), and the last reduction, 10 ms
//   asked for where needed     as long: each waits 10 ms before its layer
//   asked for one ahead        the first gather alone is exposed
#include <fmt/format.h>

#include "sim/plan/pass/parameter_gathers.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr int kLayers = 4;

Experiment two_gpus(const std::string& data, const std::string& bucket = "1 GB") {
  Scenario scenario = on_paper(R"(
model: {name: m, kind: mlp, layers: 4, width: 1}
cluster:
  name: pair
  gpu: a100-80
  gpus_per_node: 2
  intra_node: {bandwidth: 100 GB/s, latency: 0 us}
training: {global_batch: 2, precision: fp16, gradient_clipping: false}
parallelism: {data: {sharding: zero1, bucket: )" +
                               bucket + ", " + data + R"(}}
collectives: {all_gather: ring, reduce_scatter: ring}
host: {launch: 0 us}
run: {steps: 1, warmup: 1}
)");
  return {std::move(scenario), paper_graph(paper_layer(30_ms, 10_ms, 1e9), kLayers)};
}

constexpr double kPasses = kLayers * (30e-3 + 10e-3), kGather = 10e-3, kReduction = 10e-3;

/// In one step of a rank: g for a gather, f for kernels of forward, h for a wait of the host.
std::string order_of(const Plan& plan, int rank, int step = 1) {
  std::string order;
  for (const Task& task : plan.program(rank).tasks) {
    if (task.step != step) continue;
    const bool gathers = task.kind == TaskKind::communicate && task.channel == Channel::data_gather;
    if (gathers) order += 'g';
    if (task.kind == TaskKind::chain && task.cause == Cause::forward) order += 'f';
    if (task.kind == TaskKind::host_wait) order += 'h';
  }
  return order;
}

std::vector<double> gathered(const Plan& plan, int rank = 0) {
  std::vector<double> bytes;
  for (const Task& task : plan.program(rank).tasks) {
    if (task.kind == TaskKind::communicate && task.channel == Channel::data_gather &&
        task.step == 1)
      bytes.push_back(plan.operations[task.work].bytes.bytes());
  }
  return bytes;
}

}  // namespace

TEST_CASE("parameters of a bucket come while the one before is used") {
  const Experiment behind = two_gpus("averaging: collective");
  const Experiment beside = two_gpus("averaging: collective, overlap_param_gather: true");
  CHECK(behind.step_seconds() == nine_digits(kPasses + kReduction + kLayers * kGather));
  CHECK(beside.step_seconds() == nine_digits(kPasses + kReduction + kGather));
  CHECK(order_of(behind.plan, 0) == "fgh");
  CHECK(order_of(beside.plan, 0) == "ggfgfgffh");
  CHECK(gathered(behind.plan) == std::vector<double>{8e9});
  CHECK(gathered(beside.plan) == std::vector<double>(kLayers, 2e9));
}

TEST_CASE("aligned gathers without chunks are asked for where they are needed") {
  const Experiment aligned =
      two_gpus("averaging: collective, overlap_param_gather: true, align_param_gather: true");
  CHECK(aligned.step_seconds() == nine_digits(kPasses + kReduction + kLayers * kGather));
  CHECK(order_of(aligned.plan, 0) == "gfgfgfgfh");
}

TEST_CASE("only what was updated in shards, and overlaps, is gathered beside forward") {
  StageShape shape;
  shape.of(Channel::data).ranks = 2;
  Scenario other = two_gpus("overlap_param_gather: true").scenario;
  CHECK(gathers_beside_forward(other, shape));
  other.parallelism.data.overlap = false;
  CHECK_FALSE(gathers_beside_forward(other, shape));
  other.parallelism.data.overlap = true;
  for (const Sharding sharding : {sharding_named("ddp"), sharding_named("zero3")}) {
    other.parallelism.data.sharding = sharding;
    CHECK_FALSE(gathers_beside_forward(other, shape));
  }
}

// Stages 0 and 1 of two with two chunks each, interleaved: chunks 0 and 1 are asked for as the step
// begins. Of four chunks the third is asked for with the first pass of the second, which stage 1
// reaches one forward pass later than it asks.
TEST_CASE("aligned gathers of chunks are asked for a chunk ahead") {
  const auto order = [](int chunks, int rank) {
    const Experiment run(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 8, width: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}}
training: {{global_batch: 4, precision: fp16, gradient_clipping: false}}
parallelism:
  pipeline: {{stages: 2, chunks: {}, schedule: interleaved}}
  data: {{sharding: zero1, overlap_param_gather: true, align_param_gather: true}}
run: {{steps: 1, warmup: 1}}
)",
                                     chunks));
    return order_of(run.plan, rank);
  };
  CHECK(order(2, 0).starts_with("ggf"));
  CHECK(order(2, 2).starts_with("ggf"));
  // Micro-batches of a chunk come in twos.
  CHECK(order(4, 0).starts_with("ggffgff"));
  CHECK(order(4, 2).starts_with("ggfgff"));
}

TEST_CASE("all parameters are gathered once a step, however they are asked for") {
  for (const char* bucket : {"1 KB", "3 GB", "5 GB", "1 TB"}) {
    for (const char* aligned : {"true", "false"}) {
      CAPTURE(bucket);
      CAPTURE(aligned);
      const Experiment run = two_gpus(
          fmt::format("overlap_param_gather: true, align_param_gather: {}", aligned), bucket);
      double total = 0;
      for (const double bytes : gathered(run.plan)) total += bytes;
      CHECK(total == nine_digits(8e9));
    }
  }
}

// The host sees two results of each bucket before it launches what comes next.
TEST_CASE("a host that looks at gradients waits twice for each bucket") {
  const Experiment looks = two_gpus("check_for_nan_in_grad: true");
  const Experiment one = two_gpus("check_for_nan_in_grad: true, overlap: false");
  CHECK(order_of(two_gpus("averaging: bucket").plan, 0) == "fgh");
  CHECK(order_of(looks.plan, 0) == "fhhhhhhhhgh");
  CHECK(order_of(one.plan, 0) == "fhhgh");
}

// A launch takes 1 ms. Without looks the host is ahead of the GPU throughout the backward pass.
// With them the norm and whether it is a number hide under the layer's own 10 ms, but then the GPU
// waits for what is launched next: two kernels that say whether the norm is finite, the reduction,
// and the next layer's kernel, of which the last layer has none.
TEST_CASE("a look costs the launches that the host had done before") {
  const auto seconds = [](const char* look) {
    Scenario scenario = two_gpus(fmt::format("averaging: collective, {}", look)).scenario;
    scenario.host.launch = 1_ms;
    return Experiment(std::move(scenario), paper_graph(paper_layer(30_ms, 10_ms, 1e9), kLayers))
        .step_seconds();
  };
  const double costs =
      seconds("check_for_nan_in_grad: true") - seconds("check_for_nan_in_grad: false");
  CHECK(costs == nine_digits(kLayers * 4e-3 - 1e-3));
}

TEST_CASE("a layer may have hundreds of buckets: what waits for a row waits for its last task") {
  // The 2 GB of one operation are 400 tensors, each a bucket of 25 us, of which one is asked for
  // ahead. Each of the other layers waits for 399 buckets of its own as well.
  constexpr int kTensors = 400;
  Op op;
  op.name = "op";
  op.parameters.assign(kTensors, 1e9 / kTensors);
  op.forward.emplace_back(lasting(30_ms));
  op.backward.emplace_back(lasting(10_ms));
  for (const double elements : op.parameters) op.backward.emplace_back(GradientReady{elements});
  Block layer{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  layer.dag.add(std::move(op), {});
  const std::string beside = "averaging: collective, overlap_param_gather: true";
  const Experiment one = two_gpus(beside);
  const Experiment many(two_gpus(beside, "5 MB").scenario, paper_graph(std::move(layer), kLayers));
  CHECK(gathered(many.plan).size() == kLayers * kTensors);
  CHECK(many.step_seconds() ==
        nine_digits(one.step_seconds() + (kLayers - 1) * kGather * (kTensors - 1) / kTensors));
  for (const Task& task : many.plan.program(0).tasks)
    CHECK(task.needs <= many.plan.program(0).rows.size());
}
