// What adapters alone make of state, of reductions and of gathers.
//
// P weights of 2 bytes are frozen, and A parameters of adapters trained by Adam in bf16 with 16-bit
// gradients. Without sharding a rank holds 2 P + (2 + 2 + 12) A bytes and reduces 2 A a step; ZeRO
// 1 shares out 12 A, and ZeRO 3 all of it, gathers 2 P + 2 A in each direction and reduces 2 A. A
// pipeline whose backward passes are split has weight gradients of adapters alone to put off.
#include <map>
#include <variant>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/schedule.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kLayers = 4, h = 512, ffn = 4 * h, r = 8, V = 8192, ranks = 8;
constexpr double A = kLayers * r * ((h + 3 * h) + 2 * h + 2 * (h + ffn));
// Products with biases, two norms of two vectors; the last norm and both tables.
constexpr double P =
    kLayers * (3 * h * h + 3 * h + h * h + h + 2 * h * ffn + ffn + h + 4 * h) + 2 * h + 2 * V * h;

Experiment trained(const std::string& parallelism, const std::string& lora = "lora: {rank: 8}") {
  return Experiment(parse_scenario(fmt::format(R"(
model:
  {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192, positions: 0,
   tied_embeddings: false}}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: 16, micro_batch: 2, precision: bf16, attention: flash2, {}}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 0}}
)",
                                               lora, parallelism),
                                   "test.yaml", Library{{source_folder()}}, {},
                                   {known_schedules(), {}, {}}));
}

double held(const Experiment& e, const std::string& category) {
  const StageMemory memory = memory_of_stage(e.scenario, e.graph, 0);
  for (const MemoryCategory& c : memory.categories) {
    if (c.name == category) return c.bytes.bytes();
  }
  return 0;
}

/// Moved by collectives of that kind among the replicas in a step of rank 0.
double moved(const Experiment& e, CollectiveOp op) {
  double sum = 0;
  for (const Task& task : e.plan.program(0).tasks) {
    if (task.kind != TaskKind::communicate) continue;
    const Operation& operation = e.plan.operations[task.work];
    if (e.plan.names[operation.name].starts_with(name_of(op))) sum += operation.bytes.bytes();
  }
  return sum;
}

}  // namespace

TEST_CASE("frozen weights have no gradients and no optimizer state") {
  const Experiment e = trained("data: {sharding: ddp}");
  CHECK(held(e, "parameters") == 2 * (P + A));
  CHECK(held(e, "gradients") == 2 * A);
  CHECK(held(e, "optimizer") == 12 * A);
  const Experiment shared = trained("data: {sharding: zero1}");
  CHECK(held(shared, "parameters") == 2 * (P + A));
  CHECK(held(shared, "optimizer") == 12 * A / ranks);
  const Experiment sharded = trained("data: {sharding: zero3}");
  CHECK(held(sharded, "parameters") == 2 * (P + A) / ranks);
  CHECK(held(sharded, "gradients") == 2 * A / ranks);
}

TEST_CASE("fp8 weights that are not trained need no copy in 16 bits") {
  const std::string common =
      "transformer_impl: transformer_engine, lora: {rank: 8, target_modules: [linear_qkv]}";
  const double linear = kLayers * (4 * h * h + 2 * h * ffn);
  const double adapters = kLayers * r * (h + 3 * h);
  const auto in_fp8 = [&](const std::string& more) {
    Scenario scenario = trained("data: {sharding: ddp}", common).scenario;
    scenario.training.precision = Precision::fp8;
    scenario.training.fp8_parameters = !more.empty();
    return Experiment(scenario);
  };
  CHECK(held(in_fp8(""), "parameters") == 2 * (P + adapters));
  CHECK(held(in_fp8("kept"), "parameters") == 2 * (P - linear + adapters));
  // By rows and by columns, for Hopper; kept alone, they are transposed when that is needed.
  CHECK(held(in_fp8(""), "fp8 weights") == 2 * linear);
  CHECK(held(in_fp8("kept"), "fp8 weights") == linear);
}

TEST_CASE("replicas reduce the gradients of adapters alone") {
  const Experiment ddp = trained("data: {sharding: ddp}");
  CHECK(moved(ddp, CollectiveOp::all_reduce) == 2 * A);
  const Experiment zero1 = trained("data: {sharding: zero1}");
  CHECK(moved(zero1, CollectiveOp::reduce_scatter) == 2 * A);
  CHECK(moved(zero1, CollectiveOp::all_gather) == 2 * A);
}

TEST_CASE("what is sharded is gathered frozen or not, but not for a pass that is not run") {
  const Experiment e = trained("data: {sharding: zero3}");
  CHECK(moved(e, CollectiveOp::reduce_scatter) == 2 * A);
  // Forward all, backward all but the embedding.
  CHECK(moved(e, CollectiveOp::all_gather) == 2 * (2 * (P + A) - V * h));
}

TEST_CASE("zero3 shards and gathers frozen weights in fp8, and no copy of them in 16 bits") {
  Scenario scenario = trained("data: {sharding: zero3}",
                              "transformer_impl: transformer_engine, lora: {rank: 8, "
                              "target_modules: [linear_qkv]}")
                          .scenario;
  scenario.training.precision = Precision::fp8;
  // So few words that the largest block is a layer.
  constexpr double kWords = 512;
  std::get<Transformer>(scenario.model.shape).vocabulary = static_cast<std::int64_t>(kWords);
  const double linear = 4 * h * h + 2 * h * ffn, adapters = r * (h + 3 * h);
  const double layer = linear + 3 * h + h + ffn + h + 4 * h, table = kWords * h, norm = 2 * h;
  const Experiment wide(scenario);
  CHECK(held(wide, "parameters") == 2 * (kLayers * (layer + adapters) + 2 * table + norm) / ranks);
  // Two blocks, and a layer's gradients.
  CHECK(held(wide, "gathered") == 2 * 2 * (layer + adapters) + 2 * adapters);
  CHECK(held(wide, "fp8 weights") == 2 * 2 * linear);
  CHECK(moved(wide, CollectiveOp::all_gather) ==
        2 * 2 * (kLayers * (layer + adapters) + table + norm) + 2 * table);
  scenario.training.fp8_parameters = true;
  const Experiment narrow(scenario);
  CHECK(held(narrow, "parameters") ==
        (2 * (kLayers * (layer - linear + adapters) + 2 * table + norm) + kLayers * linear) /
            ranks);
  // The head and the embedding are the largest in 16 bits; what is gathered in fp8 comes beside.
  CHECK(held(narrow, "gathered") == 2 * 2 * (table + norm) + 2 * adapters);
  CHECK(held(narrow, "fp8 weights") == 2 * linear);
  CHECK(moved(narrow, CollectiveOp::all_gather) ==
        moved(wide, CollectiveOp::all_gather) - 2 * kLayers * linear);
}

TEST_CASE("core attention runs again for a gradient, and not where there is none") {
  const auto again = [](const std::string& targets) {
    const Experiment e = trained(
        "data: {sharding: ddp}",
        fmt::format("recompute: selective, lora: {{rank: 8, target_modules: [{}]}}", targets));
    double count = 0;
    for (const Chain& chain : e.plan.chains) {
      for (const Kernel& kernel : chain.kernels) count += kernel.cause == Cause::recompute;
    }
    return count;
  };
  const double all = again("linear_qkv");
  CHECK(all > 0);
  // The first layer's attention is before all adapters.
  CHECK(again("linear_proj") == all * (kLayers - 1) / kLayers);
  CHECK(again("linear_fc2") == all * (kLayers - 1) / kLayers);
}

TEST_CASE("adapters train in pipelines, with context ranks and with passes that are split") {
  for (const char* split :
       {"pipeline: {stages: 2}", "pipeline: {stages: 2, schedule: zb-h1}",
        "tensor: 2, sequence: true, pipeline: {stages: 2}", "context: {degree: 2}",
        "pipeline: {stages: 2, schedule: interleaved, chunks: 2}"}) {
    CAPTURE(split);
    CHECK(trained(split).step_seconds() > 0);
  }
}

// An adapter of rank r has r parameters for each input and each output of its layer.
TEST_CASE("adapters stand beside the layers of latent attention") {
  const auto adapters = [](const std::string& targets, int query_rank) {
    const Experiment e(fmt::format(R"(
model:
  {{name: m, layers: 2, hidden: 512, heads: 8, vocabulary: 8192, positions: 0, tied_embeddings: false,
   mla: {{query_rank: {}, kv_rank: 64, rope_dim: 16, nope_dim: 32, value_dim: 32}}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 1, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: 2, attention: unfused, lora: {{rank: 8, target_modules: [{}]}}}}
)",
                                   query_rank, targets));
    CHECK(e.step_seconds() > 0);
    double sum = 0;
    for (const std::size_t block : e.graph.chain) sum += e.graph.blocks[block].parameters();
    return sum / 2 / r;  // of a layer, by rank
  };
  const double keys = 8 * (32 + 16), up = 8 * (32 + 32), values = 8 * 32;
  CHECK(adapters("linear_q_down_proj", 96) == nine_digits(h + 96));
  CHECK(adapters("linear_q_up_proj", 96) == nine_digits(96 + keys));
  CHECK(adapters("linear_q_proj", 0) == nine_digits(h + keys));
  CHECK(adapters("linear_kv_down_proj", 96) == nine_digits(h + 64 + 16));
  CHECK(adapters("linear_kv_up_proj", 96) == nine_digits(64 + up));
  CHECK(adapters("linear_proj", 96) == nine_digits(values + h));
}

TEST_CASE("the first layer has experts where all have them") {
  const auto frozen = [](const std::string& lora) {
    const Experiment e(fmt::format(R"(
model:
  {{name: m, layers: 3, hidden: 512, heads: 8, vocabulary: 8192, positions: 0, tied_embeddings: false,
   bias: false, experts: {{count: 8, top_k: 2, ffn: 256}}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 1, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: 2, attention: flash2{}}}
)",
                                   lora));
    double sum = 0;
    for (const std::size_t block : e.graph.chain) {
      const Block& b = e.graph.blocks[block];
      sum += lora.empty() ? b.parameters() : b.frozen_parameters();
    }
    return sum;
  };
  CHECK(frozen(", lora: {rank: 8}") == frozen(""));
}

// DTensor's adapters exchange A's outputs and their gradients alone, T tokens of r numbers in 2 B:
// gathered and scattered beside a layer split by outputs, the other way round beside one by inputs.
TEST_CASE("adapters beside DTensor's layers exchange what is as narrow as their rank") {
  constexpr double tokens = 256 * 2, t = 2;
  const Experiment e = trained("tensor: 2, sequence: true, dtensor: true, data: {sharding: zero3}");
  const auto moved_by = [](const Items& items) {
    std::map<CollectiveOp, double> bytes;
    for (const Item& item : items) {
      if (const auto* start = std::get_if<StartCollective>(&item))
        bytes[start->op] += start->bytes.bytes();
    }
    return bytes;
  };
  const std::map<CollectiveOp, double> gathered{{CollectiveOp::all_gather, 2 * tokens * r}};
  const std::map<CollectiveOp, double> scattered{{CollectiveOp::reduce_scatter, 2 * tokens * r}};
  double parameters = 0;
  for (const std::size_t block : e.graph.chain) {
    for (const Op& op : e.graph.blocks[block].dag.ops) {
      if (!op.adapter) continue;
      CAPTURE(op.name);
      const bool by_inputs = op.name == "projection adapter" || op.name == "mlp down adapter";
      CHECK(moved_by(op.forward) == (by_inputs ? scattered : gathered));
      CHECK(moved_by(op.backward) == (by_inputs ? gathered : scattered));
      for (const double tensor : op.parameters) parameters += tensor;
    }
  }
  // A is split by its outputs beside the one, by its inputs beside the other, and B likewise.
  CHECK(parameters == kLayers * r * ((h + 3 * h) + 2 * h + 2 * (h + ffn)) / t);
  CHECK(e.step_seconds() > 0);
}
