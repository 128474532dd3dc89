// Optimizers: bytes of state, bytes moved by an update, and an update on the CPU.
//
// N parameters in 16 bit with fp32 gradients and master weights: 4 B of masters and, of state,
// nothing for SGD, 4 B for momentum, 8 B for Adam and LAMB, 2 (1 + 4/256) B for Adam in 8 bit. An
// update moves, read or written, 4 B for each: SGD g, w twice; momentum and the buffer twice; Adam
// and two moments twice: 12, 20, 28 B. LAMB w for its norm; g twice, w and two moments twice; g for
// the norm; g and w twice: 48 B. LARS 16-bit w and g for their norms and momentum: 26 B. Adam in
// single operations 2 + 3 + 2 + 3 + 2 + 2 + 2 + 4 = 20 accesses: 80 B. With 16-bit gradients an
// update that casts reads 2 B of g and writes 2 B of weights more: momentum 2 + 8 + 8 + 2 = 20 B.
#include "sim/plan/program/optimizer.hpp"

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

Training mixed(const std::string& optimizer) {
  return {.precision = Precision::bf16, .gradients = Precision::fp32, .optimizer = optimizer};
}

double moved(const std::string& optimizer, OptimizerKernels kernels = OptimizerKernels::fused) {
  Training training = mixed(optimizer);
  training.optimizer_kernels = kernels;
  double bytes = 0;
  for (const UpdateSweep& sweep : sweeps_of(training)) bytes += sweep_bytes(sweep, training);
  return bytes;
}

constexpr double kParameters = 1e6;
constexpr BytesPerSecond kCopies{1e9}, kCpu{10e9};

/// Four layers of a million parameters on paper GPUs of one node; only copies and the CPU take time
/// beside the layers.
Scenario paper(const std::string& training, const std::string& data, int gpus) {
  Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 64, heads: 1, vocabulary: 64}}
cluster:
  {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: {{bandwidth: 1000000 GB/s, latency: 0 us}}}}
training: {{sequence_length: 64, global_batch: {0}, precision: fp16, gradient_clipping: false{1}}}
parallelism: {{data: {{bucket: 1 MiB, {2}}}}}
host: {{launch: 0 us, optimizer_rate: 10 GB/s}}
run: {{steps: 1, warmup: 0}}
)",
                                           gpus, training, data));
  scenario.cluster.gpu.copy_pinned = kCopies;
  return scenario;
}

double step(const Scenario& scenario, Seconds forward, Seconds backward) {
  return Experiment(scenario, paper_graph(paper_layer(forward, backward, kParameters), 4))
      .step_seconds();
}

double category(const Scenario& scenario, const std::string& name) {
  const OpGraph graph = paper_graph(paper_layer(1_us, 1_us, kParameters), 4);
  const StageMemory memory = memory_of_stage(scenario, graph, 0);
  for (const MemoryCategory& category : memory.categories) {
    if (category.name == name) return category.bytes.bytes();
  }
  return 0;
}

}  // namespace

TEST_CASE("an optimizer keeps 4 B of master weights and its moments") {
  CHECK(optimizer_bytes(mixed("sgd")) == 4);
  CHECK(optimizer_bytes(mixed("momentum")) == 8);
  CHECK(optimizer_bytes(mixed("adam")) == 12);
  CHECK(optimizer_bytes(mixed("lamb")) == 12);
  CHECK(optimizer_bytes(mixed("lars")) == 8);
  CHECK(optimizer_bytes(mixed("adam-8bit")) == nine_digits(4 + 2 * (1 + 4.0 / 256)));
}

TEST_CASE("without master weights the moments have the parameters' type") {
  Training narrow = mixed("adam");
  narrow.master_weights = false;
  CHECK(optimizer_bytes(narrow) == 4);
  narrow.optimizer = "adam-8bit";
  CHECK(optimizer_bytes(narrow) == nine_digits(2 * (1 + 4.0 / 256)));
  // fp32 gradient; weight and moments of 2 B read and written.
  narrow.optimizer = "adam";
  CHECK(sweep_bytes(sweeps_of(narrow).front(), narrow) == 4 + 2 * 2 + 2 * 2 * 2);
  narrow.precision = Precision::fp32;
  CHECK(optimizer_bytes(narrow) == 8);
}

TEST_CASE("an update moves 12, 20, 26, 28 or 48 B a parameter, in single operations more") {
  CHECK(moved("sgd") == 12);
  CHECK(moved("momentum") == 20);
  CHECK(moved("adam") == 28);
  CHECK(moved("lamb") == 48);
  CHECK(moved("lars") == 2 + 4 + 20);
  CHECK(moved("adam-8bit") == nine_digits(4 + 8 + 4 + 2 * 2 * 4.0 / 256));
  CHECK(moved("adam", OptimizerKernels::foreach_op) == 80);
  CHECK(moved("momentum", OptimizerKernels::foreach_op) == 44);
  CHECK(moved("sgd", OptimizerKernels::foreach_op) == 24);
  CHECK(moved("adam", OptimizerKernels::composed) == 132);
}

TEST_CASE("weights that do not decay take a kernel less where kernels are not fused") {
  Training training = mixed("momentum");
  training.weight_decay = false;
  training.optimizer_kernels = OptimizerKernels::fused;
  CHECK(sweeps_of(training).size() == 1);
  training.optimizer_kernels = OptimizerKernels::foreach_op;
  CHECK(sweeps_of(training).size() == 3);
  training.weight_decay = true;
  CHECK(sweeps_of(training).size() == 4);
}

TEST_CASE("an update that casts reads narrow gradients and writes narrow weights") {
  const auto casting = [](const std::string& optimizer) {
    Training training = mixed(optimizer);
    training.gradients = Precision::bf16;
    training.fusion = "mxnet";
    double bytes = 0;
    for (const UpdateSweep& sweep : sweeps_of(training)) bytes += sweep_bytes(sweep, training);
    return bytes;
  };
  CHECK(casting("sgd") == 2 + 2 * 4 + 2);
  CHECK(casting("momentum") == 20);
  CHECK(casting("lars") == 2 + 2 + 20);
  CHECK(casting("adam") == 2 + 2 * 4 + 2 * 2 * 4 + 2);
  Training wide = mixed("momentum");
  wide.precision = Precision::fp32;
  wide.fusion = "mxnet";  // there is nothing to cast
  CHECK(sweep_bytes(sweeps_of(wide).front(), wide) == 20);
}

/// Kernels of the update of two layers, with their embedding and last norm.
std::size_t update_kernels_with(const std::string& training) {
  const Scenario scenario = scenario_of(fmt::format(R"(
model: {{name: m, layers: 2, hidden: 64, heads: 1, vocabulary: 64}}
cluster: {{name: c, gpu: a100-80}}
training: {{sequence_length: 64, global_batch: 1, {}}}
)",
                                                    training));
  const Experiment experiment(scenario);
  Plan plan = make_plan(experiment.scenario, experiment.graph);
  PlanDraft draft{experiment.scenario, experiment.graph, plan};
  const std::vector<double> tensors = elements_of_tensors(draft, 0, false);
  return update_kernels(draft, 1, tensors, tensors).size();
}

/// Four matrices with biases and two norms with biases a layer, the embedding, the last norm.
constexpr std::size_t kTensors = 2 * (4 * 2 + 2 * 2) + 1 + 2;

TEST_CASE("kernels for each tensor are as many as tensors times operations") {
  // Around the update: clipping, weights from fp32, clearing gradients.
  CHECK(update_kernels_with("optimizer_kernels: fused") == 3 + 1);
  CHECK(update_kernels_with("fusion: mxnet") == 2 + 1);  // clips, clears
  CHECK(update_kernels_with("optimizer_kernels: foreach") == 3 + 8);
  CHECK(update_kernels_with("optimizer_kernels: per_tensor") == 3 + 8 * kTensors);
  CHECK(update_kernels_with("optimizer_kernels: composed") == 3 + 14 * kTensors);
}

TEST_CASE("used gradients are cleared as one, one by one, or not at all") {
  const std::string apart = "fused_accumulation: false, used_gradients: ";
  CHECK(update_kernels_with(apart + "clear_buffer") == 2 + 1 + 1);
  CHECK(update_kernels_with(apart + "clear_tensors") == 2 + 1 + kTensors);
  CHECK(update_kernels_with(apart + "free") == 2 + 1);
  CHECK(update_kernels_with(apart + "keep") == 2 + 1);
}

TEST_CASE("an offloaded update waits for gradients, the CPU and weights, one after the other") {
  // On one GPU all 4 million gradients of 2 B leave after the backward pass, the CPU moves 28 B of
  // Adam, 2 B of new weights and, for fp16, 8 B to unscale; 2 B of weights come back.
  const double n = 4 * kParameters;
  const double expected = 4 * 30e-6 + n * 2 / 1e9 + n * (28 + 2 + 8) / 10e9 + n * 2 / 1e9;
  CHECK(step(paper("", "offload_optimizer: true", 1), 10_us, 20_us) == nine_digits(expected));
}

TEST_CASE("gradients leave beside the backward pass, as their buckets are reduced") {
  // Two ranks of ZeRO 1: each gets half of every layer's gradients, 1 ms to copy, while the next
  // layer's backward pass takes 3 ms; the last copy is exposed. The two share the node's CPUs.
  const double n = 4 * kParameters;
  const double expected = 4 * 4e-3 + 1e-3 + n * (28 + 2 + 8) / 10e9 + n / 2 * 2 / 1e9;
  const double seconds = step(paper("", "sharding: zero1, offload_optimizer: true", 2), 1_ms, 3_ms);
  CHECK(seconds == doctest::Approx(expected).epsilon(1e-4));
}

TEST_CASE("an offloaded optimizer takes nothing on the GPU, and sharded gradients two buckets") {
  const double n = 4 * kParameters;
  CHECK(category(paper("", "sharding: zero1", 2), "optimizer") == nine_digits(n / 2 * 12));
  CHECK(category(paper("", "sharding: zero1, offload_optimizer: true", 2), "optimizer") == 0);
  CHECK(category(paper("", "sharding: zero1, offload_optimizer: true", 2), "gradients") ==
        nine_digits(n * 2));
  CHECK(category(paper("", "sharding: zero2, offload_optimizer: true", 2), "gradients") ==
        nine_digits(2 * 0x1p20));
}
