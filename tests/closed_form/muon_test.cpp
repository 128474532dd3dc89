// Muon: products of the iteration, state, who owns which matrix, and what is exchanged.
//
// A matrix of sides a <= b takes S steps of b a a + a a a + b a a multiplications: 4 b a^2 + 2 a^3
// FLOP each, and with symmetric products of half size 3 b a^2 + a^3. A parameter of a matrix has 4
// B of momentum and 4 B of master weight, all others have Adam's 12 B.
//
// The model below has L layers of width h with four matrices: 3h x h, h x h, 4h x h, h x 4h, so
// 12 h^2 elements. Queries, keys and values are three of h x h each.
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/memory/checkpoint_bytes.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/memory/update_memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/program/newton_schulz.hpp"
#include "tests/closed_form/matrix_updates.hpp"

using namespace stepsim;

namespace {

/// Kernels of that name in rank 0's step.
int kernels_named(const Plan& plan, const std::string& name) {
  int count = 0;
  for (const Task& task : plan.program(0).tasks) {
    if (task.kind != TaskKind::chain) continue;
    for (const Kernel& kernel : plan.chains[task.work].kernels)
      count += plan.names[kernel.name] == name;
  }
  return count;
}

/// Bytes of rank 0's collectives of that name, on any channel.
double bytes_named(const Plan& plan, const std::string& name) {
  double sum = 0;
  for (const Task& task : plan.program(0).tasks) {
    if (task.kind != TaskKind::communicate) continue;
    const Operation& operation = plan.operations[task.work];
    if (plan.names[operation.name] == name) sum += operation.bytes.bytes();
  }
  return sum;
}

Matrices pointers(const std::vector<WeightMatrix>& matrices) {
  Matrices all;
  for (const WeightMatrix& matrix : matrices) all.push_back(&matrix);
  return all;
}

}  // namespace

TEST_CASE("a step takes 4 b a^2 + 2 a^3 FLOP, or with halves of symmetric products 3 b a^2 + a^3") {
  for (const auto& [rows, columns] : {std::pair{1024, 4096}, {4096, 1024}, {768, 768}}) {
    const IteratedMatrix x = turned(rows, columns);
    const double a = std::min(rows, columns), b = std::max(rows, columns);
    CHECK(schulz_products(x, false).flops().flops() == nine_digits(4 * b * a * a + 2 * a * a * a));
    CHECK(schulz_products(x, true).flops().flops() == nine_digits(3 * b * a * a + a * a * a));
  }
}

TEST_CASE("matrices have momentum and master weights, all others what Adam has") {
  const Scenario muon = gpt(", optimizer: muon", "", 1);
  const double others = parameters(muon) - kMatrices;
  CHECK(optimizer_state(muon) == nine_digits(8 * kMatrices + 12 * others));
  CHECK(optimizer_state(gpt("", "", 1)) == nine_digits(12 * (kMatrices + others)));
  // Of two ranks that take matrices in turn the first one has 3 h^2 + 4 h^2 of each layer's 12 h^2.
  const Scenario in_turn = gpt(", optimizer: muon, muon: {owners: round_robin}", "", 2);
  CHECK(optimizer_state(in_turn) ==
        nine_digits(4 * kMatrices + 4 * kMatrices * 7 / 12 + 12 * others));
  // Layer-wise owners of a half of each bucket have master weights of theirs alone.
  const Scenario owned = gpt(", optimizer: muon", "data: {sharding: zero1}", 2);
  CHECK(optimizer_state(owned) == nine_digits(8 * kMatrices / 2 + 12 * others / 2));
}

TEST_CASE("the heaviest matrices are dealt out first, each to whoever has least to do") {
  // Costs b a^2 of 8, 4, 4, 2, 2 on three ranks: 8; 4 and 2; 4 and 2. The sizes leave room.
  const std::vector<WeightMatrix> all{{.rows = 128, .columns = 256},
                                      {.rows = 128, .columns = 256},
                                      {.rows = 128, .columns = 512},
                                      {.rows = 128, .columns = 128},
                                      {.rows = 128, .columns = 128}};
  const DealtMatrices dealt = pack_matrices(pointers(all), 3);
  REQUIRE(dealt.heaviest().size() == 1);
  CHECK(dealt.heaviest().front()->columns == 512);
  CHECK(dealt.owned[1].size() == 2);
  CHECK(dealt.owned[2].size() == 2);
  // Shards are as long as the longest: 3 x 128 x 512 elements for 128 x 1280 of matrices.
  CHECK(dealt.exchanged == 3 * 128 * 512);
}

TEST_CASE("where ranks are more than matrices, shards are as long as the largest of them") {
  const std::vector<WeightMatrix> two{{.rows = 128, .columns = 128}, {.rows = 128, .columns = 512}};
  const DealtMatrices dealt = pack_matrices(pointers(two), 16);
  CHECK(dealt.exchanged == 16 * 128 * 512);
  CHECK(dealt.most_elements() == 128 * 512);
  // A bucket has enough for each rank before another begins, so that equal ones need no padding.
  const std::vector<WeightMatrix> equal(32, WeightMatrix{.rows = 64, .columns = 64});
  CHECK(pack_matrices(pointers(equal), 16, 1).exchanged == 32 * 64 * 64);
}

TEST_CASE("each data rank multiplies all matrices, its turns, or those that it owns") {
  // Per layer six matrices, as queries, keys and values are three; five steps of each.
  const int all = static_cast<int>(kLayers) * 6 * 5;
  CHECK(kernels_named(Experiment(gpt(", optimizer: muon", "", 2)).plan, "gram") == all);
  CHECK(kernels_named(
            Experiment(gpt(", optimizer: muon, muon: {split_qkv: false, steps: 3}", "", 2)).plan,
            "gram") == static_cast<int>(kLayers) * 4 * 3);
  // Of the four weights of a layer rank 0 takes the first and the third one, which is qkv.
  CHECK(kernels_named(Experiment(gpt(", optimizer: muon, muon: {owners: round_robin}", "", 2)).plan,
                      "gram") == static_cast<int>(kLayers) * (3 + 1) * 5);
}

TEST_CASE("updates of ranks in turn are summed in 16 bits, and owned matrices are gathered") {
  const Experiment in_turn(
      gpt(", optimizer: muon, muon: {owners: round_robin}", "data: {overlap: false}", 2));
  const double gradients = 4 * parameters(in_turn.scenario);
  CHECK(bytes_named(in_turn.plan, "all_reduce") == nine_digits(gradients + 2 * kMatrices));
  // Two ranks share the 16 weights of four layers without padding.
  const Experiment owned(gpt(", optimizer: muon", "data: {sharding: zero1, overlap: false}", 2));
  CHECK(bytes_named(owned.plan, "reduce_scatter") == nine_digits(gradients));
  CHECK(bytes_named(owned.plan, "all_gather") == nine_digits(gradients / 2));
  // 64 ranks have one weight at most: a shard is 4h x h for each of them.
  const Experiment many(gpt(", optimizer: muon", "data: {sharding: zero1, overlap: false}", 64));
  const double others = parameters(many.scenario) - kMatrices;
  CHECK(bytes_named(many.plan, "reduce_scatter") == nine_digits(4 * (others + 64 * 4 * kSquare)));
}

TEST_CASE("tensor ranks gather momentum, sum small products, or do neither") {
  const auto exchanged = [](const std::string& mode, const std::string& name) {
    const std::string both = "tensor: 2";
    const Experiment with(
        gpt(fmt::format(", optimizer: muon, muon: {{tensor_mode: {}}}", mode), both, 2));
    const Experiment without(gpt("", both, 2));
    return bytes_named(with.plan, name) - bytes_named(without.plan, name);
  };
  CHECK(exchanged("blockwise", "all_gather") == 0);
  CHECK(exchanged("blockwise", "all_reduce") == 0);
  CHECK(exchanged("duplicated", "all_gather") == nine_digits(4 * kMatrices));
  // A norm of six matrices a layer, and five times their Gram matrices of the side that is whole:
  // h x h, in 16 bits.
  CHECK(exchanged("distributed", "all_reduce") == nine_digits(kLayers * 6 * (4 + 5 * 2 * kSquare)));
}

// A matrix of 4h x h takes 4 B an element of the sum with the momentum. Of what is iterated there
// are first 4 + 2 B an element, later 2 + 2 and of two Gram matrices of h x h 2 B each.
TEST_CASE("an update holds the largest matrix as it is iterated, not what passes hold") {
  const WeightMatrix up{.rows = 1024, .columns = 256}, square{.rows = 256, .columns = 256};
  const auto bytes = [](const WeightMatrix& matrix, Muon muon, std::int64_t ranks) {
    return update_bytes(matrix, muon, ranks).bytes();
  };
  CHECK(bytes(up, {}, 1) == nine_digits((4 + 6) * 4 * kSquare));
  CHECK(bytes(up, {.nesterov = false}, 1) == nine_digits(6 * 4 * kSquare));
  CHECK(bytes(square, {}, 1) == nine_digits((4 + 4 + 4) * kSquare));
  // One of four ranks has h rows of 4h, and gathers the others' or multiplies its own.
  WeightMatrix part = square;
  part.split = MatrixSplit::rows;
  CHECK(bytes(part, {}, 4) == nine_digits(4 * kSquare + (4 + 6) * 4 * kSquare));
  CHECK(bytes(part, {.tensor_mode = MuonTensorMode::blockwise}, 4) == nine_digits(12 * kSquare));
  CHECK(bytes(part, {.tensor_mode = MuonTensorMode::distributed}, 4) == nine_digits(12 * kSquare));
  // Queries, keys and values are iterated one after the other.
  const WeightMatrix qkv{.rows = 768, .columns = 256, .parts = {256, 256, 256}};
  CHECK(bytes(qkv, {}, 1) == nine_digits((4 * 3 + 8) * kSquare));

  Scenario scenario = gpt(", optimizer: muon", "", 1);
  for (const std::int64_t tokens : {1, 4096}) {
    scenario.training.sequence_length = tokens;
    const StageMemory memory = memory_of_stage(scenario, build(scenario), 0);
    double update = 0;
    for (const MemoryCategory& category : memory.categories)
      update += category.name == "update" ? category.bytes.bytes() : 0;
    const double held = memory.peak.held.total().bytes();
    if (tokens == 1) CHECK(update == nine_digits(40 * kSquare - held));
    if (tokens > 1) CHECK(update == 0);
  }
}

TEST_CASE("gates of attention are a matrix as queries are") {
  const OpGraph graph = build(scenario_of(R"(
model: {name: m, layers: 1, hidden: 256, heads: 4, kv_heads: 2, vocabulary: 512, attention_gate: true}
cluster: {name: c, gpu: a100-80}
training: {sequence_length: 64, global_batch: 1, optimizer: muon}
)"));
  bool found = false;
  for (const Op& op : graph.blocks.at(1).dag.ops) {
    if (op.name != "qkv") continue;
    found = true;
    CHECK(op.matrices.front().rows == (2 * 4 + 2 * 2) * 64);
    CHECK(parts_of(op.matrices.front()) == std::vector<std::int64_t>{256, 128, 128, 256});
  }
  CHECK(found);
  CHECK_THROWS_AS(parts_of({.rows = 256, .columns = 64, .parts = {128, 64}}), InternalError);
}

TEST_CASE("matrices are the first parameters of an op, whatever stands beside them") {
  for (const char* model : {"gpt-oss-20b", "mixtral-8x7b", "qwen3-next-80b-a3b", "nemotron-h-8b",
                            "gpt2", "flux.1-dev"}) {
    CAPTURE(model);
    const OpGraph graph = build(scenario_of(fmt::format(
        "model: {}\ncluster: {{gpu: h100}}\ntraining: {{sequence_length: 512, global_batch: 1}}\n",
        model)));
    for (const Block& block : graph.blocks) {
      if (!block.recomputable) continue;
      for (const Op& op : block.dag.ops) {
        CAPTURE(op.name);
        REQUIRE(op.matrices.size() <= op.parameters.size());
        for (std::size_t i = 0; i < op.matrices.size(); ++i)
          CHECK(op.parameters[i] == op.matrices[i].elements());
      }
    }
  }
}

// Of 4 layers 12 h^2 elements are as above, but for the MLP's 8 h^2: a router of 8 h, and 8 experts
// of 2 h^2 each.
TEST_CASE("a checkpoint is as large however experts are dealt out") {
  const double matrices = 4 * (4 * kSquare + 8 * kHidden + 8 * 2 * kSquare);
  for (const int degree : {1, 2, 8}) {
    CAPTURE(degree);
    const Scenario scenario = scenario_of(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 256, heads: 4, vocabulary: 512, experts: {{count: 8, top_k: 2, ffn: 256}}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 64, global_batch: 8, optimizer: muon, precision: bf16}}
parallelism: {{expert: {{degree: {}}}}}
checkpoint: {{every: 1, storage: {{bandwidth: 1 GB/s}}}}
)",
                                                      degree));
    const OpGraph graph = build(scenario);
    const double others = graph.total_parameters - matrices;
    CHECK(checkpoint_bytes(scenario, graph).bytes() == nine_digits(10 * matrices + 14 * others));
  }
}

TEST_CASE("ranks in turn hold the updates of all matrices in 16 bits") {
  const auto bytes = [](const std::string& owners, int gpus) {
    const Scenario scenario =
        gpt(fmt::format(", optimizer: muon, muon: {{owners: {}}}", owners), "", gpus);
    return update_bytes(scenario, build(scenario), 0).bytes();
  };
  CHECK(bytes("all", 2) == nine_digits(40 * kSquare));
  CHECK(bytes("round_robin", 2) == nine_digits(40 * kSquare + 2 * kMatrices));
  CHECK(bytes("round_robin", 1) == nine_digits(40 * kSquare));
}
