// The switches of frameworks, read off the plan: what is reduced and gathered when, in which order.
//
// L equal layers of psi parameters each; a step of m micro-batches.
//   no_sync           gradients are reduced once a step, otherwise m times
//   bucket_views      or each gradient moves to its bucket and back, once each
//   ZeRO 3            gathers 2 L psi a micro-batch, or L psi where forward keeps what it gathered
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/plan/memory/memory_buffers.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr int kLayers = 6;
constexpr double kLayer = 512.0 * 512;  // parameters
constexpr double kElement = 2;          // fp16

Experiment stack(const std::string& data, int micro_batches = 1, int stages = 1,
                 const std::string& node =
                     "gpus_per_node: 8, intra_node: {bandwidth: 200 GB/s, "
                     "latency: 2 us}",
                 const char* launch = "16 us") {
  return Experiment(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {}, width: 512}}
cluster: {{name: c, gpu: a100-80, {}}}
training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {}}}, data: {{{}}}}}
host: {{launch: {}}}
run: {{steps: 1, warmup: 1}}
)",
                                kLayers, node, 8 / stages * micro_batches, stages, data, launch));
}

/// The work of one channel on a rank in one step: names, in program order.
std::vector<double> bytes_of(const Plan& plan, const Program& program, Channel channel, int step) {
  std::vector<double> bytes;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::communicate && task.channel == channel && task.step == step)
      bytes.push_back(plan.operations[task.work].bytes.bytes());
  }
  return bytes;
}
std::vector<double> reduced(const Plan& plan, int step = 1, int rank = 0) {
  return bytes_of(plan, plan.program(rank), Channel::data, step);
}
std::vector<double> gathered(const Plan& plan) {
  return bytes_of(plan, plan.program(0), Channel::data_gather, 1);
}
double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

/// The order of launches in the last step: f and b for chains of those passes, g for a gather, r
/// for a reduction, h for a wait of the host.
std::string order_of(const Plan& plan) {
  std::string order;
  for (const Task& task : plan.program(0).tasks) {
    if (task.step != 1) continue;
    if (task.kind == TaskKind::chain && task.cause == Cause::forward) order += 'f';
    if (task.kind == TaskKind::chain && task.cause == Cause::backward) order += 'b';
    if (task.kind == TaskKind::host_wait) order += 'h';
    if (task.kind != TaskKind::communicate) continue;
    order += task.channel == Channel::data_gather ? 'g' : 'r';
  }
  return order;
}

/// How often that text stands in the order.
int count(const std::string& order, const std::string& part) {
  int times = 0;
  for (auto at = order.find(part); at != std::string::npos; at = order.find(part, at + 1)) ++times;
  return times;
}

}  // namespace

TEST_CASE("without no_sync every micro-batch reduces, overlapped or not, whatever is sharded") {
  const double psi = kLayers * kLayer * kElement;
  for (const char* sharding : {"ddp", "zero1", "zero2"}) {
    for (const bool overlap : {true, false}) {
      CAPTURE(sharding);
      CAPTURE(overlap);
      const auto volume = [&](bool no_sync) {
        const std::string data =
            fmt::format("sharding: {}, overlap: {}, no_sync: {}", sharding, overlap, no_sync);
        return sum(reduced(stack(data, 4).plan));
      };
      CHECK(volume(true) == nine_digits(psi));
      CHECK(volume(false) == nine_digits(4 * psi));
    }
  }
}

TEST_CASE("no_sync in ZeRO 3 scatters once a step and gathers as often as before") {
  const double psi = kLayers * kLayer * kElement;
  const Experiment each = stack("sharding: zero3", 4);
  const Experiment once = stack("sharding: zero3, no_sync: true", 4);
  CHECK(sum(reduced(each.plan)) == nine_digits(4 * psi));
  CHECK(sum(reduced(once.plan)) == nine_digits(psi));
  CHECK(sum(gathered(each.plan)) == nine_digits(sum(gathered(once.plan))));
  // Gradients that add up over micro-batches are whole.
  CHECK(once.plan.programs[0].resident_bytes - each.plan.programs[0].resident_bytes ==
        nine_digits((1 + kFragmentation) * psi * 7 / 8));
}

TEST_CASE("buckets that are rebuilt are one in the first step") {
  const Experiment ddp = stack("bucket: 1 KiB, rebuild_buckets: true");
  CHECK(reduced(ddp.plan, 0) == std::vector<double>{kLayers * kLayer * kElement});
  CHECK(reduced(ddp.plan, 1) == std::vector<double>(kLayers, kLayer * kElement));
}

namespace {

/// The kernels of that name, in all chains.
std::vector<double> copies(const Experiment& run, const std::string& name) {
  std::vector<double> seconds;
  for (const Chain& chain : run.plan.chains) {
    for (const Kernel& kernel : chain.kernels)
      if (run.plan.names[kernel.name] == name) seconds.push_back(kernel.seconds);
  }
  return seconds;
}

}  // namespace

TEST_CASE("without bucket views each gradient is copied to its bucket and back") {
  const Experiment views = stack("bucket: 1 KiB");
  const Experiment copied = stack("bucket: 1 KiB, bucket_views: false");
  CHECK(copies(views, "gradient to bucket").empty());
  CHECK(copies(views, "gradient from bucket").empty());
  CHECK(copies(copied, "average gradients").empty());
  const auto to = copies(copied, "gradient to bucket");
  const auto from = copies(copied, "gradient from bucket");
  CHECK(to.size() == kLayers);
  CHECK(from.size() == kLayers);
  // Copying to the bucket and back each reads and writes every element once.
  CHECK(to == from);
  CHECK(to == copies(views, "average gradients"));
  CHECK(reduced(copied.plan) == reduced(views.plan));
  // Each backward pass that reduces copies back.
  const auto back = [&](const char* no_sync) {
    const Experiment run =
        stack(fmt::format("bucket: 1 KiB, bucket_views: false, no_sync: {}", no_sync), 2);
    std::size_t kernels = 0;
    for (const Task& task : run.plan.program(0).tasks) {
      if (task.kind != TaskKind::chain || task.step != 1) continue;
      for (const Kernel& kernel : run.plan.chains[task.work].kernels)
        kernels += run.plan.names[kernel.name] == "gradient from bucket" ? 1 : 0;
    }
    return kernels;
  };
  CHECK(back("true") == kLayers);
  CHECK(back("false") == 2 * kLayers);
  CHECK(copies(stack("sharding: zero1, bucket_views: false"), "gradient to bucket").empty());
  // What is reduced at once is copied at once.
  const Experiment at_once = stack("overlap: false, bucket_views: false, averaging: bucket");
  CHECK(copies(at_once, "gradient to bucket").empty());
  const auto all = copies(at_once, "gradients to buckets");
  REQUIRE_FALSE(all.empty());
  CHECK(all == copies(at_once, "average gradients"));
  CHECK(all == copies(at_once, "gradients from buckets"));
  CHECK(copies(stack("overlap: false, bucket_views: false"), "average gradients").empty());
  CHECK(copies(stack("overlap: false"), "gradients to buckets").empty());
}

// On a slow network reductions follow one another, and what is copied out of a bucket is hidden
// behind the next reduction: the last copy alone comes after all.
TEST_CASE("a gradient leaves its bucket when that is reduced, not when all are") {
  const char* slow = "gpus_per_node: 8, intra_node: {bandwidth: 1 GB/s, latency: 2 us}";
  const Experiment views = stack("bucket: 1 KiB", 1, 1, slow);
  const Experiment copied = stack("bucket: 1 KiB, bucket_views: false", 1, 1, slow);
  const double copy = copies(copied, "gradient from bucket").front();
  CHECK(copied.step_seconds() == nine_digits(views.step_seconds() + copy));
}

TEST_CASE("a kernel averages a bucket or a gradient, or the copy to the bucket does") {
  const auto averages = [](const char* data, const char* node) {
    return copies(stack(data, 1, 1, node), "average gradients").size();
  };
  const char* eight = "gpus_per_node: 8, intra_node: nvlink3";
  const char* alone = "gpus_per_node: 1, intra_node: nvlink3";
  CHECK(averages("bucket: 1 GiB", eight) == 1);
  CHECK(averages("bucket: 1 KiB", eight) == kLayers);
  CHECK(averages("bucket: 1 GiB, averaging: gradient", eight) == kLayers);
  CHECK(averages("bucket: 1 GiB, bucket_views: false", eight) == 0);
  CHECK(averages("bucket: 1 GiB, bucket_views: false, averaging: bucket", eight) == 1);
  // A rank without others copies and averages as well, one whose gradients lie in buckets does not.
  CHECK(averages("bucket: 1 KiB, bucket_views: false, averaging: bucket", alone) == kLayers);
  CHECK(averages("bucket: 1 KiB", alone) == 0);
  CHECK(averages("bucket: 1 KiB, averaging: gradient", alone) == 0);
}

TEST_CASE("DeepSpeed's zero1 reduces gradients whole") {
  const auto reduction = [](const std::string& data) {
    const Experiment experiment = stack(data);
    const Plan& plan = experiment.plan;
    std::string name;
    for (const Task& task : plan.program(0).tasks) {
      if (task.kind == TaskKind::communicate && task.channel == Channel::data)
        name = plan.names[plan.operations[task.work].name];
    }
    return std::pair{name, reduced(plan)};
  };
  for (const bool overlap : {true, false}) {
    for (const char* stage : {"zero1", "zero2"}) {
      const std::string data = fmt::format("sharding: {}, overlap: {}", stage, overlap);
      const auto scattered = reduction(data);
      const auto whole = reduction(data + ", all_reduce_gradients: true");
      CHECK(scattered.first == "reduce_scatter");
      CHECK(whole.first == "all_reduce");
      CHECK(whole.second == scattered.second);
    }
  }
}

// A ResNet-50 has 25557032 parameters, 2 x 26560 of them of batch norms.
TEST_CASE("batch norms that stay fp32 are reduced by themselves, behind the rest") {
  const auto reductions = [](const std::string& training) {
    const Experiment run(fmt::format(R"(
model: resnet50
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{global_batch: 16, micro_batch: 2, precision: fp16{}}}
parallelism: {{data: {{overlap: false}}}}
run: {{steps: 1, warmup: 1}}
)",
                                     training));
    return reduced(run.plan);
  };
  const double all = 25557032, norms = 2 * 26560;
  CHECK(reductions("") == std::vector<double>{2 * all});
  CHECK(reductions(", fusion: mxnet") == std::vector<double>{2 * (all - norms), 4 * norms});
  CHECK(reductions(", fusion: mxnet, gradients: fp32") == std::vector<double>{4 * all});
}

// Half of 4 ms: at the end where nothing overlaps, and once where reductions follow one another.
TEST_CASE("a reduction starts half of a cycle late") {
  const auto later = [](const char* data, const char* node) {
    const Experiment now = stack(data, 1, 1, node, "0 us");
    const Experiment turns = stack(fmt::format("{}, cycle: 4 ms", data), 1, 1, node, "0 us");
    CHECK(reduced(turns.plan) == reduced(now.plan));
    return turns.step_seconds() - now.step_seconds();
  };
  const char* fast = "gpus_per_node: 8, intra_node: {bandwidth: 200 GB/s, latency: 2 us}";
  const char* slow = "gpus_per_node: 8, intra_node: {bandwidth: 0.1 GB/s, latency: 2 us}";
  CHECK(later("overlap: false", fast) == nine_digits(2e-3));
  CHECK(later("bucket: 1 GiB", fast) == nine_digits(2e-3));
  CHECK(later("bucket: 1 KiB", slow) == nine_digits(2e-3));
  CHECK(later("sharding: zero1, bucket: 1 GiB", fast) == nine_digits(2e-3));
  // A rank without others reduces nothing.
  CHECK(later("bucket: 1 GiB", "gpus_per_node: 1, intra_node: nvlink3") == 0);
}

TEST_CASE("Megatron-LM's later stages have one bucket") {
  const auto buckets = [](bool later, int rank) {
    const std::string data = fmt::format("bucket: 1 KiB, bucket_later_stages: {}", later);
    return reduced(stack(data, 1, 2).plan, 1, rank);
  };
  constexpr std::size_t kEach = kLayers / 2;
  CHECK(buckets(true, 0) == std::vector<double>(kEach, kLayer * kElement));
  CHECK(buckets(true, 4) == std::vector<double>(kEach, kLayer * kElement));
  CHECK(buckets(false, 0) == std::vector<double>(kEach, kLayer * kElement));
  CHECK(buckets(false, 4) == std::vector<double>{kEach * kLayer * kElement});
}

// DualPipe: stages s and p-1-s hold the same two parts, as other chunks. A reduction of one waits
// for that of the other, so that other buckets than its would never be reduced.
TEST_CASE("the holders of a part reduce it in the same buckets") {
  constexpr int kPart = 2;  // layers
  const auto both_ways = [](int stages, const char* data) {
    return Experiment(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {}, width: 512}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: {{bandwidth: 200 GB/s, latency: 2 us}}}}
training: {{global_batch: 16, precision: fp16, gradient_clipping: false}}
parallelism:
  pipeline: {{stages: {}, schedule: dualpipe, chunks: 2, overlap_p2p: true}}
  data: {{bucket: 1 KiB, {}}}
run: {{steps: 1, warmup: 1}}
)",
                                  kPart * stages, stages, data));
  };
  for (const int stages : {2, 4, 8}) {
    for (const char* data : {"sharding: ddp, bucket_later_stages: false",
                             "sharding: zero1, bucket_later_stages: false", "sharding: ddp"}) {
      CAPTURE(stages);
      CAPTURE(data);
      const Experiment experiment = both_ways(stages, data);
      CHECK(experiment.step_seconds() > 0);  // the step completes
      for (int stage = 0; stage < stages / 2; ++stage) {
        const int each = 8 / stages;
        CHECK(reduced(experiment.plan, 1, stage * each) ==
              reduced(experiment.plan, 1, (stages - 1 - stage) * each));
      }
    }
  }
  // The first part in buckets, the other in one.
  constexpr double kLayerBytes = kLayer * kElement;
  const Experiment two = both_ways(2, "bucket_later_stages: false");
  std::vector<double> buckets = reduced(two.plan);
  std::sort(buckets.begin(), buckets.end());
  CHECK(buckets == std::vector<double>{kLayerBytes, kLayerBytes, kPart * kLayerBytes});
}

TEST_CASE("what forward does not give up is not gathered again") {
  const double psi = kLayers * kLayer * kElement;
  const auto volume = [](const char* reshard) {
    return sum(
        gathered(stack(fmt::format("sharding: zero3, reshard_after_forward: {}", reshard)).plan));
  };
  CHECK(volume("all") == nine_digits(2 * psi));
  CHECK(volume("layers") == nine_digits(2 * psi));
  CHECK(volume("none") == nine_digits(psi));
}

TEST_CASE("embedding and head are gathered once when only layers are given up") {
  const auto volume = [](const char* reshard) {
    const Experiment gpt(fmt::format(R"(
model: {{name: m, layers: 2, hidden: 512, heads: 8, vocabulary: 32000, tied_embeddings: false}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 128, global_batch: 8, precision: fp16}}
parallelism: {{data: {{sharding: zero3, reshard_after_forward: {}}}}}
run: {{steps: 1, warmup: 1}}
)",
                                     reshard));
    double outside = 0;
    for (const std::size_t index : gpt.graph.chain) {
      const Block& block = gpt.graph.blocks[index];
      if (!block.recomputable) outside += block.parameters() * kElement;
    }
    return std::pair{sum(gathered(gpt.plan)), outside};
  };
  const auto [all, outside] = volume("all");
  CHECK(volume("layers").first == nine_digits(all - outside));
  CHECK(outside > 2 * 32000.0 * 512 * kElement);
}

TEST_CASE("parameters below the threshold are gathered once a step, together") {
  const auto made = gathered(stack("sharding: zero3, persistence_threshold: 262145").plan);
  CHECK(made == std::vector<double>{kLayers * kLayer * kElement});
  CHECK(gathered(stack("sharding: zero3, persistence_threshold: 262144").plan).size() ==
        2 * kLayers);
}

TEST_CASE("experts are gathered and scattered over the ranks that hold the same ones") {
  const auto with = [](const std::string& data) {
    return Experiment(fmt::format(R"(
model: {{name: m, layers: 2, hidden: 512, heads: 8, vocabulary: 32000, tied_embeddings: false,
        experts: {{count: 4, top_k: 2, ffn: 1024}}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 128, global_batch: 8, precision: fp16, gradient_clipping: false}}
parallelism: {{expert: {{degree: 2}}, data: {{sharding: zero3{}}}}}
run: {{steps: 1, warmup: 1}}
)",
                                  data));
  };
  const auto volume = [](const Plan& plan, Channel channel) {
    return sum(bytes_of(plan, plan.program(0), channel, 1));
  };
  const Experiment all = with("");
  double dense = 0, experts = 0, small = 0;  // small: norms and biases
  for (const std::size_t index : all.graph.chain) {
    const Block& block = all.graph.blocks[index];
    experts += block.expert_parameters();
    dense += block.parameters() - block.expert_parameters();
    for (const Op* op : block.order()) {
      for (const double tensor : op->parameters) small += tensor < 2048 && !op->expert ? tensor : 0;
    }
  }
  CHECK(volume(all.plan, Channel::data_gather) == nine_digits(2 * dense * kElement));
  CHECK(volume(all.plan, Channel::expert_gather) == nine_digits(2 * experts * kElement));
  CHECK(volume(all.plan, Channel::data) == nine_digits(dense * kElement));
  CHECK(volume(all.plan, Channel::expert_data) == nine_digits(experts * kElement));
  // What is too small to be sharded is gathered once, after the update.
  const Experiment kept = with(", persistence_threshold: 2048");
  CHECK(small > 0);
  CHECK(volume(kept.plan, Channel::data_gather) == nine_digits((2 * dense - small) * kElement));
  CHECK(volume(kept.plan, Channel::expert_gather) == nine_digits(2 * experts * kElement));
}

TEST_CASE("the host asks for the next block before or after the kernels of this one") {
  const std::string early = order_of(stack("sharding: zero3").plan);
  const std::string late =
      order_of(stack("sharding: zero3, forward_prefetch: false, backward_prefetch: post").plan);
  CHECK(early.starts_with("ggfgf"));
  CHECK(late.starts_with("gfgfgf"));
  CHECK(count(early, "gb") == kLayers);
  // A block's gradients are flattened and divided before they are scattered.
  CHECK(count(late, "bgbr") == kLayers - 1);
  const std::string none = order_of(stack("sharding: zero3, backward_prefetch: none").plan);
  CHECK(count(none, "brgb") == kLayers - 1);
}

TEST_CASE(
    "asking early or late is the same to a GPU that the host is ahead of; not at all is not") {
  const auto seconds = [](const std::string& data) {
    Scenario scenario = stack("sharding: zero3, " + data).scenario;
    scenario.host.launch = Seconds{0};
    return Experiment(std::move(scenario)).step_seconds();
  };
  const double early = seconds("forward_prefetch: true, backward_prefetch: pre");
  CHECK(seconds("forward_prefetch: false, backward_prefetch: post") == nine_digits(early));
  CHECK(seconds("forward_prefetch: true, backward_prefetch: none") > early * 1.0001);
}

TEST_CASE(
    "in a loop over layers each pass gathers its own tensors and hides those it needs later") {
  const auto experiment = [](const char* prefetch, bool scans) {
    Scenario scenario = stack(fmt::format("sharding: zero3, {}", prefetch)).scenario;
    scenario.training.scan_layers = scans;
    return Experiment(std::move(scenario));
  };
  const char* kNone = "forward_prefetch: false, backward_prefetch: none";
  const Experiment loop = experiment(kNone, true);
  const Experiment blocks = experiment(kNone, false);
  CHECK(sum(gathered(loop.plan)) == nine_digits(sum(gathered(blocks.plan))));
  CHECK(sum(reduced(loop.plan)) == nine_digits(sum(reduced(blocks.plan))));
  CHECK(loop.step_seconds() < blocks.step_seconds());
}

TEST_CASE("a host that limits gathers waits for the block before the last one") {
  const std::string free = order_of(stack("sharding: zero3, forward_prefetch: false").plan);
  const std::string held =
      order_of(stack("sharding: zero3, forward_prefetch: false, limit_all_gathers: true").plan);
  CHECK(count(free, "h") == 1);  // the end of the step
  CHECK(count(held, "fhg") == kLayers);
  CHECK(count(held, "hg") == 2 * kLayers - 1);
}

TEST_CASE("parameters are copied out of the buffer of each gather, read and written") {
  const auto copies = [](const char* data) {
    const Experiment e = stack(data);
    std::vector<double> seconds;
    for (const Task& task : e.plan.program(0).tasks) {
      if (task.kind != TaskKind::chain || task.step != 1) continue;
      for (const Kernel& kernel : e.plan.chains[task.work].kernels) {
        if (e.plan.names[kernel.name] != "copy parameters out") continue;
        CHECK(kernel.cause == task.cause);
        seconds.push_back(kernel.seconds);
      }
    }
    return seconds;
  };
  CHECK(copies("sharding: zero3").empty());
  const GpuProfile gpu = stack("sharding: zero3").scenario.cluster.gpu;
  const MemoryBound copy{Bytes{2 * kElement * kLayer}, MemoryRate::optimizer};
  for (const double seconds : copies("sharding: zero3, copy_out: true"))
    CHECK(seconds == nine_digits(kernel_time(copy, gpu).seconds()));
  CHECK(copies("sharding: zero3, copy_out: true").size() == 2 * kLayers);
  CHECK(copies("sharding: zero3, copy_out: true, reshard_after_forward: none").size() == kLayers);
}

TEST_CASE("limited reductions make compute wait for the one before the last") {
  const auto edges = [](bool limited) {
    const Experiment e = stack(fmt::format("sharding: zero3, limit_reduce_scatters: {}", limited));
    const Program& program = e.plan.program(0);
    int found = 0;  // from a reduction to a chain of backward
    for (TaskIndex i = 0; i < program.tasks.size(); ++i) {
      const Task& task = program.tasks[i];
      if (task.step != 1 || task.channel != Channel::data || task.kind != TaskKind::communicate)
        continue;
      for (std::uint32_t s = task.first_successor; s < program.end_of_successors(i); ++s) {
        const Task& next = program.tasks[program.successors[s]];
        found += next.kind == TaskKind::chain && next.cause == Cause::backward ? 1 : 0;
      }
    }
    return found;
  };
  CHECK(edges(false) == 0);
  CHECK(edges(true) >= kLayers - 3);
}

namespace {

/// ZeRO 3 of four layers over four ranks in a loop as XLA compiles it: a layer has 12 h^2 elements
/// in its products, h = 512.
Experiment scanned(const std::string& training, const std::string& data = "") {
  return Experiment(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192, dropout: false, bias: false}}
cluster: {{name: c, gpu: h100, gpus_per_node: 4, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: 4, scan_layers: true, {}}}
parallelism: {{data: {{sharding: zero3{}}}}}
run: {{steps: 1, warmup: 1}}
)",
                                training, data));
}

std::map<std::string, int> kernels_of(const Experiment& e) {
  std::map<std::string, int> kernels;
  for (const Task& task : e.plan.program(0).tasks) {
    if (task.kind != TaskKind::chain || task.step != 1) continue;
    for (const Kernel& kernel : e.plan.chains[task.work].kernels)
      ++kernels[std::string(e.plan.names[kernel.name])];
  }
  return kernels;
}

}  // namespace

TEST_CASE("XLA scatters gradients as products leave them") {
  for (const char* name : {"flatten gradients", "divide gradients"}) {
    CHECK(kernels_of(scanned("fusion: fused"))[name] > 0);
    CHECK(kernels_of(scanned("fusion: xla"))[name] == 0);
  }
}

TEST_CASE("a loop that is not unrolled copies what its next iteration gets") {
  auto kernels = kernels_of(scanned("fusion: pax"));
  CHECK(kernels["copy parameters for the loop"] == 2 * 4);
  CHECK(kernels["copy gradients for the loop"] == 4);
  CHECK(kernels_of(scanned("fusion: xla"))["copy parameters for the loop"] == 0);
}

namespace {

/// Bytes that kernels of that name move in a step.
double moved(const Experiment& e, const std::string& name) {
  const MemoryProfile& memory = e.scenario.cluster.gpu.memory_kernels;
  double bytes = 0;
  for (const Task& task : e.plan.program(0).tasks) {
    if (task.kind != TaskKind::chain || task.step != 1) continue;
    for (const Kernel& kernel : e.plan.chains[task.work].kernels) {
      if (e.plan.names[kernel.name] != name) continue;
      bytes += std::sqrt(std::pow(kernel.seconds, 2) - std::pow(memory.latency.seconds(), 2)) *
               memory.optimizer.bytes_per_second();
    }
  }
  return bytes;
}

const std::string kFp8 = "precision: fp8, fp8_parameters: true";

}  // namespace

// Each of four ranks reads 2 B and writes 1 B of its share of 12 h^2 elements, forward and
// backward.
TEST_CASE("whatever is gathered in fp8 is cast before, prefetched or not") {
  for (const char* prefetch : {", forward_prefetch: true, backward_prefetch: pre",
                               ", forward_prefetch: false, backward_prefetch: pre",
                               ", forward_prefetch: true, backward_prefetch: none",
                               ", forward_prefetch: false, backward_prefetch: none"}) {
    CAPTURE(prefetch);
    CHECK(moved(scanned("fusion: xla, " + kFp8, prefetch), "cast share of weights") ==
          nine_digits(2 * 4 * (2 + 1) * 12 * 512 * 512 / 4.0));
  }
}

TEST_CASE("parameters are copied out as they were gathered, in fp8 too") {
  for (const std::string& training : {std::string("precision: bf16"), kFp8}) {
    CAPTURE(training);
    const Experiment e =
        scanned(training, ", copy_out: true, forward_prefetch: true, backward_prefetch: pre");
    CHECK(moved(e, "copy parameters out") == nine_digits(2 * sum(gathered(e.plan))));
  }
}

TEST_CASE("ZeRO 3 gathers fp8 parameters in 1 B an element, and turns them before forward passes") {
  const Experiment wide = scanned("fusion: xla, precision: fp8");
  const Experiment narrow = scanned("fusion: xla, precision: fp8, fp8_parameters: true");
  CHECK(sum(gathered(wide.plan)) - sum(gathered(narrow.plan)) ==
        nine_digits(2.0 * 4 * 12 * 512 * 512));
  CHECK(kernels_of(wide)["mlp up weight cast"] == 2 * 4);
  CHECK(kernels_of(narrow)["mlp up weight cast"] == 0);
  CHECK(kernels_of(narrow)["mlp up weight transpose"] == 4);
}
