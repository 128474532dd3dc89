// Low-rank adapters: what is trained, what is computed for it, and what frozen weights lack.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

// Tokens of a micro-batch, width, rank, and widths of queries, keys and values, and of the MLP.
constexpr double T = 2 * 256, h = 512, r = 8, qkv = 3 * h, ffn = 4 * h;

std::string adapted(const std::string& lora, const std::string& training = "",
                    const std::string& parallelism = "", const std::string& model = "") {
  return fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192{}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training:
  {{sequence_length: 256, global_batch: 16, micro_batch: 2, precision: bf16, attention: flash2{}{}}}
parallelism: {{{}}}
)",
                     model, training, lora.empty() ? "" : ", lora: {" + lora + "}", parallelism);
}

OpGraph built(const std::string& yaml) { return build(scenario_of(yaml)); }

const Block& block_named(const OpGraph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.blocks, name, &Block::name);
  REQUIRE(found != graph.blocks.end());
  return *found;
}
const Block& layer_in(const OpGraph& graph) { return block_named(graph, "layer"); }

const Op& op_named(const Block& block, const std::string& name) {
  const auto found = std::ranges::find(block.dag.ops, name, &Op::name);
  REQUIRE(found != block.dag.ops.end());
  return *found;
}

std::vector<Launch> launches(const Items& items) {
  std::vector<Launch> found;
  for (const Item& item : items) {
    if (const auto* launch = std::get_if<Launch>(&item)) found.push_back(*launch);
  }
  return found;
}

double product_flops(const Items& items) {
  double sum = 0;
  for (const Launch& launch : launches(items)) {
    if (const auto* gemm = std::get_if<Gemm>(&launch.work)) sum += gemm->flops().flops();
  }
  return sum;
}

long weight_gradients(const Block& block) {
  long count = 0;
  for (const Op& op : block.dag.ops)
    count +=
        std::ranges::count_if(launches(op.backward), [](const Launch& l) { return l.for_weights; });
  return count;
}

std::vector<StartCollective> collectives_of(const Items& items) {
  std::vector<StartCollective> found;
  for (const Item& item : items) {
    if (const auto* start = std::get_if<StartCollective>(&item)) found.push_back(*start);
  }
  return found;
}

/// Norms alone run again.
Recomputation of_norms() {
  Recomputation how(Recompute::selective);
  how.modules = {RecomputeModule::layernorm};
  return how;
}

std::multiset<std::string> names(const Items& items) {
  std::multiset<std::string> found;
  for (const Launch& launch : launches(items)) found.insert(launch.name);
  return found;
}

}  // namespace

TEST_CASE("an adapter has two matrices of its rank, and nothing else is trained") {
  const OpGraph plain = built(adapted(""));
  const OpGraph graph = built(adapted("rank: 8"));
  const double pairs = (h + qkv) + (h + h) + (h + ffn) + (ffn + h);
  CHECK(layer_in(graph).parameters() == r * pairs);
  CHECK(layer_in(graph).frozen_parameters() == layer_in(plain).parameters());
  for (const char* end : {"embedding", "head"}) {
    CHECK(block_named(graph, end).parameters() == 0);
    CHECK(block_named(graph, end).frozen_parameters() == block_named(plain, end).parameters());
  }
}

TEST_CASE("target_modules says which layers have one") {
  const OpGraph graph = built(adapted("rank: 8, target_modules: [linear_qkv, linear_fc2]"));
  CHECK(layer_in(graph).parameters() == r * ((h + qkv) + (ffn + h)));
  const OpGraph apart =
      built(adapted("rank: 8, target_modules: [linear_q, linear_v]", ", fused_qkv: false"));
  CHECK(layer_in(apart).parameters() == r * 2 * (h + h));
  const OpGraph three =
      built(adapted("rank: 8, target_modules: [linear_qkv]", ", fused_qkv: false"));
  CHECK(layer_in(three).parameters() == r * 3 * (h + h));
}

TEST_CASE("an adapter's products: 2 T r (in + out) forward, twice that backward") {
  const OpGraph graph = built(adapted("rank: 8"));
  const Op& op = op_named(layer_in(graph), "mlp up adapter");
  const double forward = 2 * T * r * (h + ffn);
  CHECK(op.flops.flops() == forward);
  CHECK(product_flops(op.forward) == forward);
  CHECK(product_flops(op.backward) == 2 * forward);
}

TEST_CASE("frozen linear layers compute as much backward as forward") {
  const OpGraph graph = built(adapted("rank: 8"));
  for (const char* name : {"qkv", "projection", "mlp up", "mlp down"}) {
    const Op& op = op_named(layer_in(graph), name);
    CHECK(product_flops(op.backward) == product_flops(op.forward));
  }
  // A gradient for A and one for B of each of four adapters.
  CHECK(weight_gradients(layer_in(graph)) == 8);
  CHECK(weight_gradients(block_named(graph, "head")) == 0);
}

TEST_CASE("the kernels of frozen layers are those of trained ones, less those for weights") {
  const OpGraph plain = built(adapted("")), graph = built(adapted("rank: 8"));
  for (const Op& trained : layer_in(plain).dag.ops) {
    const Op& frozen = op_named(layer_in(graph), trained.name);
    CHECK(names(frozen.forward) == names(trained.forward));
    Items kept = trained.backward;
    std::erase_if(kept, [](const Item& item) {
      const auto* launch = std::get_if<Launch>(&item);
      return launch != nullptr && launch->for_weights;
    });
    CHECK(names(frozen.backward) == names(kept));
  }
}

TEST_CASE("nothing before the first adapter runs backward") {
  const OpGraph graph = built(adapted("rank: 8"));
  CHECK(graph.chain.size() == 6);
  const Block& embedding = block_named(graph, "embedding");
  CHECK(!embedding.has_gradient());
  const Block& first = block_named(graph, "first layer");
  CHECK(op_named(first, "attention norm").backward.empty());
  CHECK(op_named(first, "attention norm").saved == Bytes{0});
  CHECK(op_named(first, "qkv").backward.empty());
  // B's input gradient and both weights'; none of A's input.
  const double products = 2 * T * r * (h + 2 * qkv);
  CHECK(product_flops(op_named(first, "qkv adapter").backward) == products);
  CHECK(!op_named(first, "projection").backward.empty());
  // With a target further on, attention is as well without a gradient.
  const OpGraph later = built(adapted("rank: 8, target_modules: [linear_fc2]"));
  const Block& without = block_named(later, "first layer");
  CHECK(op_named(without, "attention").backward.empty());
  CHECK(op_named(without, "mlp up").backward.empty());
  CHECK(op_named(without, "mlp down").backward.size() == 0);
  CHECK(!op_named(layer_in(later), "attention").backward.empty());
}

TEST_CASE("a first layer that is a checkpoint runs backward as the others do") {
  const OpGraph graph = built(adapted("rank: 8", ", recompute: full"));
  CHECK(std::ranges::find(graph.blocks, "first layer", &Block::name) == graph.blocks.end());
  CHECK(!block_named(graph, "embedding").has_gradient());
}

TEST_CASE("frozen layers keep no input, adapters keep theirs and A's output") {
  const OpGraph graph = built(adapted("rank: 8, target_modules: [linear_fc1]"));
  const Block& layer = layer_in(graph);
  for (const char* name : {"qkv", "projection", "mlp up", "mlp down"})
    CHECK(op_named(layer, name).saved == Bytes{0});
  CHECK(op_named(layer, "mlp up adapter").saved == Bytes{2 * T * (h + r)});
  // Queries, keys, values, the output that no layer keeps now, and a number a row.
  CHECK(op_named(layer, "attention").saved == Bytes{2 * T * (qkv + h) + 4 * T * 8});
  // Attention keeps it for both.
  const OpGraph behind = built(adapted("rank: 8, target_modules: [linear_proj]"));
  CHECK(op_named(layer_in(behind), "projection adapter").saved == Bytes{2 * T * r});
  // What dropout has made is kept, and its mask.
  const OpGraph dropped = built(adapted("rank: 8, dropout: true, target_modules: [linear_proj]"));
  CHECK(op_named(layer_in(dropped), "projection adapter").saved == Bytes{2 * T * (h + r) + T * h});
}

TEST_CASE("adapters of queries, keys and values keep what they read once") {
  const Recomputation norms = of_norms();
  const auto with = [](const std::string& targets) {
    return layer_in(built(
        adapted(fmt::format("rank: 8, target_modules: [{}]", targets), ", fused_qkv: false")));
  };
  const Bytes one = with("linear_q").saved(Recompute::none);
  for (const char* targets : {"linear_q, linear_v", "linear_q, linear_k, linear_v", "linear_qkv",
                              "linear_k, linear_v", "linear_v"}) {
    CAPTURE(targets);
    const Block layer = with(targets);
    const double count = layer.parameters() / (r * 2 * h);
    CHECK(layer.saved(Recompute::none) == one + Bytes{2 * T * r * (count - 1)});
    // The adapters' input is the norm's output, which recompute of norms drops.
    CHECK(layer.saved(norms) == layer.saved(Recompute::none) - Bytes{2 * T * h});
  }
  // Weight gradients that come later need it once as well.
  const Block all = with("linear_qkv");
  CHECK(op_named(all, "queries adapter").kept_for_weights == Bytes{2 * T * (h + r + r + h)});
  CHECK(op_named(all, "keys adapter").kept_for_weights == Bytes{2 * T * (r + r + h)});
  CHECK(op_named(all, "values adapter").kept_for_weights == Bytes{2 * T * (r + r + h)});
}

TEST_CASE("each adapter keeps what its own dropout made, and none the norm's output") {
  const Recomputation norms = of_norms();
  for (const char* fused : {"true", "false"}) {
    CAPTURE(fused);
    const auto with = [&](const char* dropout) {
      return layer_in(
          built(adapted(fmt::format("rank: 8, target_modules: [linear_qkv], dropout: {}", dropout),
                        fmt::format(", fused_qkv: {}", fused))));
    };
    const Block plain = with("false"), dropped = with("true");
    const double count = fused == std::string("true") ? 1 : 3;
    CHECK(dropped.saved(Recompute::none) ==
          plain.saved(Recompute::none) + Bytes{2 * T * h * (count - 1) + T * h * count});
    CHECK(dropped.saved(norms) == dropped.saved(Recompute::none));
  }
}

TEST_CASE("a first layer repeats no attention that has no gradient") {
  const auto again = [](const std::string& targets, const char* block) {
    const OpGraph graph = built(adapted("rank: 8, target_modules: [" + targets + "]"));
    return block_named(graph, block).repeated(Recompute::selective).attention;
  };
  CHECK(again("linear_fc2", "first layer") == Flops{0});
  CHECK(again("linear_fc2", "layer") > Flops{0});
  CHECK(again("linear_qkv", "first layer") == again("linear_fc2", "layer"));
}

TEST_CASE("tensor ranks share out an adapter, and exchange what is as narrow as its rank") {
  const std::string split = "tensor: 4, sequence: true";
  const std::string engine = ", transformer_impl: transformer_engine";
  const OpGraph graph = built(adapted("rank: 8", engine, split));
  const Block& layer = layer_in(graph);
  CHECK(layer.parameters() == r / 4 * h + r * qkv / 4 + h / 4 * r + r * h / 4 + r / 4 * h +
                                  r * ffn / 4 + ffn / 4 * r + r * h / 4);
  const auto forward = collectives_of(op_named(layer, "qkv adapter").forward);
  REQUIRE(forward.size() == 1);
  CHECK(forward[0].op == CollectiveOp::all_gather);
  CHECK(forward[0].bytes == Bytes{2 * T * r});
  const auto backward = collectives_of(op_named(layer, "qkv adapter").backward);
  REQUIRE(backward.size() == 1);
  CHECK(backward[0].op == CollectiveOp::all_reduce);
  CHECK(backward[0].bytes == Bytes{2 * T * r});
  // Behind attention A's outputs are summed, and B's gathered, or exchanged.
  const auto behind = collectives_of(op_named(layer, "projection adapter").forward);
  REQUIRE(behind.size() == 2);
  CHECK(behind[0].op == CollectiveOp::all_reduce);
  CHECK(behind[1].op == CollectiveOp::all_gather);
  CHECK(behind[1].bytes == Bytes{2 * T * h});
  const OpGraph exchanged = built(adapted("rank: 8, all_to_all: true", engine, split));
  const auto all_to_all =
      collectives_of(op_named(layer_in(exchanged), "projection adapter").forward);
  REQUIRE(all_to_all.size() == 2);
  CHECK(all_to_all[1].op == CollectiveOp::all_to_all);
  CHECK(all_to_all[1].bytes == Bytes{2 * T * h / 4});
}

TEST_CASE("layers that are not Transformer Engine's leave the gather to the adapter") {
  const std::string split = "tensor: 4, sequence: true";
  const OpGraph graph = built(adapted("rank: 8", "", split));
  const Op& op = op_named(layer_in(graph), "qkv adapter");
  const auto forward = collectives_of(op.forward);
  REQUIRE(forward.size() == 2);
  CHECK(forward[0].op == CollectiveOp::all_gather);
  CHECK(forward[0].bytes == Bytes{2 * T * h});
  CHECK(collectives_of(op.backward).back().op == CollectiveOp::reduce_scatter);
}

TEST_CASE("in fp8 frozen layers quantise activations once, and gather for adapters in 16 bits") {
  const std::string split = "tensor: 4, sequence: true";
  const std::string fp8 = ", precision: fp8, transformer_impl: transformer_engine";
  const auto with = [&](const std::string& lora) {
    std::string yaml = adapted(lora, fp8, split);
    yaml.replace(yaml.find("precision: bf16, "), 17, "");
    return built(yaml);
  };
  const auto cast = [](const OpGraph& graph, const char* op) {
    const auto kernels = launches(op_named(layer_in(graph), op).forward);
    return std::get<MemoryBound>(kernels.front().work).bytes;
  };
  const OpGraph plain = with(""), graph = with("rank: 8, target_modules: [linear_qkv]");
  // 2 B read, a byte written by rows, and one by columns where a weight gradient wants it.
  CHECK(cast(plain, "mlp down") == Bytes{4 * T * ffn / 4});
  CHECK(cast(graph, "mlp down") == Bytes{3 * T * ffn / 4});
  CHECK(cast(graph, "qkv") == Bytes{3 * T * h});
  CHECK(collectives_of(op_named(layer_in(graph), "qkv").forward)[0].bytes == Bytes{2 * T * h});
  CHECK(collectives_of(op_named(layer_in(graph), "mlp up").forward)[0].bytes == Bytes{T * h});
}

TEST_CASE("with delayed scaling a norm writes fp8 for the only linear layer that reads it") {
  const auto with = [&](const std::string& lora, const std::string& training) {
    std::string yaml =
        adapted(lora, ", precision: fp8, transformer_impl: transformer_engine" + training,
                "tensor: 4, sequence: true");
    yaml.replace(yaml.find("precision: bf16, "), 17, "");
    return built(yaml);
  };
  const auto first = [](const Items& items) { return launches(items).front(); };
  const auto bytes = [](const Launch& launch) { return std::get<MemoryBound>(launch.work).bytes; };
  const Bytes as_it_was{4 * T / 4 * h}, narrower{3 * T / 4 * h};
  for (const char* lora : {"", "rank: 8, target_modules: [linear_qkv]"}) {
    const bool adapts = lora[0] != '\0';
    const OpGraph graph = with(lora, "");
    const Block& layer = layer_in(graph);
    CHECK(bytes(first(op_named(layer, "mlp norm").forward)) == narrower);
    CHECK(first(op_named(layer, "mlp up").forward).name == "mlp up");
    // An adapter beside queries, keys and values reads the norm's output in 16 bits.
    CHECK(bytes(first(op_named(layer, "attention norm").forward)) ==
          (adapts ? as_it_was : narrower));
    const Launch behind = first(op_named(layer, "mlp up").backward);
    if (adapts) {
      CHECK(behind.name == "mlp up gradient cast");
    } else {
      CHECK(behind.name == "mlp up input transpose");
      CHECK(bytes(behind) == Bytes{2 * T * h});
    }
  }
  // Sums of layers whose norms come last read the norm's output, too.
  std::string last = adapted("", ", precision: fp8, transformer_impl: transformer_engine", "",
                             ", post_norm: true");
  last.replace(last.find("precision: bf16, "), 17, "");
  const OpGraph behind_all = built(last);
  CHECK(bytes(first(op_named(layer_in(behind_all), "attention norm").forward)) == Bytes{4 * T * h});
  const OpGraph current = with("", ", fp8_scaling: current");
  CHECK(bytes(first(op_named(layer_in(current), "mlp norm").forward)) == as_it_was);
}

TEST_CASE("fp8 weights that are kept by rows are read and written once more a backward pass") {
  Scenario scenario = scenario_of(adapted("rank: 8", ", transformer_impl: transformer_engine"));
  scenario.training.precision = Precision::fp8;
  const auto first_backward = [&] {
    return launches(op_named(layer_in(build(scenario)), "mlp down").backward).front();
  };
  CHECK(first_backward().name == "mlp down gradient cast");
  scenario.training.fp8_parameters = true;
  CHECK(first_backward().name == "mlp down weight transpose");
  CHECK(std::get<MemoryBound>(first_backward().work).bytes == Bytes{2 * h * ffn});
  // What zero3 gathers lies by rows as well, and is turned no more often.
  scenario.parallelism.data.sharding = sharding_named("zero3");
  CHECK(first_backward().name == "mlp down weight transpose");
  const Op sharded = op_named(layer_in(build(scenario)), "mlp down");
  CHECK(names(sharded.forward).count("mlp down weight transpose") == 0);
  CHECK(names(sharded.backward).count("mlp down weight transpose") == 1);
  scenario.parallelism.data.sharding = sharding_named("ddp");
  // Blackwell multiplies them as they lie.
  scenario.cluster.gpu.architecture = Architecture::blackwell;
  CHECK(first_backward().name == "mlp down gradient cast");
}

TEST_CASE("model FLOPs have no gradients of frozen weights") {
  Scenario scenario = scenario_of(adapted("rank: 8"));
  scenario.run.flops = "gemms";
  const OpGraph graph = build(scenario);
  scenario.training.lora.reset();
  const OpGraph plain = build(scenario);
  const double steps = 8;  // passes of a step, all ranks
  double products = 0, attention = 0, adapters = 0;
  for (const std::size_t index : plain.chain) {
    products += plain.blocks[index].forward_flops().products.flops();
    attention += plain.blocks[index].forward_flops().attention.flops();
  }
  adapters = 4 * 2 * T * r * ((h + qkv) + (h + h) + (h + ffn) + (ffn + h));
  CHECK(graph.model_flops.flops() ==
        nine_digits(steps * (2 * products + 3 * attention + 3 * adapters)));
  CHECK(plain.model_flops.flops() == nine_digits(steps * 3 * (products + attention)));
}
