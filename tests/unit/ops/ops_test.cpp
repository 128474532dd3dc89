// The op graph: parameters, FLOPs, collectives and order of what a model computes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 256, b = 2, h = 512, V = 8192, l = 4;

std::string gpt(const std::string& training = "", const std::string& parallelism = "",
                const std::string& model = "") {
  return fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192{}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 256, global_batch: 16, micro_batch: 2, precision: fp16{}}}
parallelism: {{{}}}
)",
                     model, training, parallelism);
}

OpGraph graph_of(const std::string& yaml) { return build(scenario_of(yaml)); }

const Block& layer_of(const OpGraph& graph) { return graph.blocks.at(1); }

double gemm_flops(const Items& items) {
  double sum = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr) continue;
    if (const auto* gemm = std::get_if<Gemm>(&launch->work)) sum += gemm->flops().flops();
  }
  return sum;
}

/// By kernels of the layer's backward pass whose names end so.
double moved_bytes(const OpGraph& graph, const std::string& ending) {
  double sum = 0;
  for (const Op* op : layer_of(graph).order()) {
    for (const Item& item : op->backward) {
      const auto* launch = std::get_if<Launch>(&item);
      const auto* kernel = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
      if (kernel != nullptr && launch->name.ends_with(ending)) sum += kernel->bytes.bytes();
    }
  }
  return sum;
}

struct Collected {
  std::vector<CollectiveOp> kinds;
  double bytes = 0;
  bool joined = true;
};

Collected collectives(const Block& block, bool forward) {
  Collected result;
  for (const Op* op : block.order()) {
    for (const Item& item : forward ? op->forward : op->backward) {
      if (const auto* start = std::get_if<StartCollective>(&item)) {
        CHECK(result.joined);  // collectives start one at a time
        result.kinds.push_back(start->op);
        result.bytes += start->bytes.bytes();
        result.joined = false;
      }
      if (std::holds_alternative<Join>(item)) result.joined = true;
    }
  }
  return result;
}

long count(const Collected& collected, CollectiveOp op) {
  return std::count(collected.kinds.begin(), collected.kinds.end(), op);
}

double gradients_of(const Op& op) {
  double sum = 0;
  for (const Item& item : op.backward) {
    if (const auto* ready = std::get_if<GradientReady>(&item)) sum += ready->elements;
  }
  return sum;
}

}  // namespace

/// The products whose name begins so, in both passes of a whole model.
std::vector<Gemm> gemms_of(const OpGraph& graph, const std::string& name) {
  std::vector<Gemm> found;
  for (const Block& block : graph.blocks) {
    for (const Op* op : block.order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          const auto* gemm = launch == nullptr ? nullptr : std::get_if<Gemm>(&launch->work);
          if (gemm != nullptr && launch->name.starts_with(name)) found.push_back(*gemm);
        }
      }
    }
  }
  return found;
}

/// A model with that vocabulary, and heads of 512 / 8 = 64.
OpGraph with_vocabulary(int size, const std::string& training, const std::string& gpu = "v100") {
  return graph_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 512, heads: 8, vocabulary: {}}}
cluster: {{name: c, gpu: {}, gpus_per_node: 1}}
training: {{sequence_length: 256, global_batch: 3, micro_batch: 3, precision: fp16{}}}
)",
                              size, gpu, training));
}

TEST_CASE("widths of features align the rows of all three products of a layer") {
  for (const auto& [the_vocabulary, alignment] :
       {std::pair{50257, 1}, {30522, 2}, {50260, 4}, {50304, 8}}) {
    const auto& vocabulary = the_vocabulary;
    CAPTURE(vocabulary);
    const std::vector<Gemm> logits = gemms_of(with_vocabulary(vocabulary, ""), "logits");
    REQUIRE(logits.size() == 3);
    for (const Gemm& gemm : logits) {
      CHECK(gemm.alignment == alignment);
      CHECK(gemm.precision == Precision::fp16);
    }
  }
  for (const Gemm& gemm : gemms_of(with_vocabulary(50257, ""), "qkv")) CHECK(gemm.alignment == 8);
}

TEST_CASE("widths of experts align the rows of their products, too") {
  for (const auto& [the_ffn, alignment] : {std::pair{1023, 1}, {1022, 2}, {1024, 8}}) {
    const auto& ffn = the_ffn;
    CAPTURE(ffn);
    const OpGraph graph =
        graph_of(gpt("", "", fmt::format(", experts: {{count: 4, top_k: 1, ffn: {}}}", ffn)));
    const std::vector<Gemm> products = gemms_of(graph, "experts");
    CHECK(products.size() == 6);
    for (const Gemm& gemm : products) {
      CHECK(gemm.grouped);
      CHECK(gemm.alignment == alignment);
    }
  }
}

TEST_CASE("Transformer Engine's experts have kernels of their own, one after the other") {
  for (const bool engine : {false, true}) {
    const OpGraph graph = graph_of(gpt(engine ? ", transformer_impl: transformer_engine" : "", "",
                                       ", experts: {count: 4, top_k: 1, ffn: 1024}"));
    for (const Gemm& gemm : gemms_of(graph, "experts")) {
      CHECK(gemm.one_by_one == engine);
      CHECK(gemm.grouped == !engine);
      CHECK(gemm.batch == 4);
    }
  }
}

TEST_CASE("in fp8 the sums of gradients go to fp32 on the way, and those of outputs do not") {
  Scenario scenario = scenario_of(gpt("", "", ""));
  for (const Precision precision : {Precision::fp16, Precision::fp8}) {
    scenario.training.precision = precision;
    const std::vector<Gemm> products = gemms_of(build(scenario), "qkv");
    REQUIRE(products.size() == 3);
    for (const Gemm& gemm : products) {
      const bool forward = &gemm == &products.front();
      CHECK(gemm.split_accumulator == (precision == Precision::fp8 && !forward));
    }
  }
}

TEST_CASE("cuBLAS 10 makes products of unaligned rows without tensor cores") {
  for (const Gemm& gemm : gemms_of(with_vocabulary(30522, ", cublas: 10"), "logits"))
    CHECK(gemm.precision == Precision::fp32);
  for (const Gemm& gemm : gemms_of(with_vocabulary(30528, ", cublas: 10"), "logits"))
    CHECK(gemm.precision == Precision::fp16);
  // Odd rows take longer than that with any library.
  for (const Gemm& gemm : gemms_of(with_vocabulary(50257, ", cublas: 10"), "logits"))
    CHECK(gemm.precision == Precision::fp16);
  CHECK_THROWS_WITH_AS(with_vocabulary(30528, ", cublas: 10", "a100-80"),
                       doctest::Contains("cuBLAS 10 does not know the GPU"), UserError);
}

TEST_CASE("a GPT layer has 12 h^2 + 13 h parameters") {
  CHECK(layer_of(graph_of(gpt())).parameters() == 12 * h * h + 13 * h);
}

TEST_CASE("tensor ranks share matrices and the biases of their columns, and repeat the rest") {
  for (const int t : {2, 4, 8}) {
    const OpGraph graph = graph_of(gpt("", fmt::format("tensor: {}", t)));
    // Biases: 3h of qkv and 4h of the MLP are split; two of h and two norms of 2h are not.
    CHECK(layer_of(graph).parameters() == (12 * h * h + 7 * h) / t + 6 * h);
  }
}

TEST_CASE("a Llama layer with shared key and value heads has its own count") {
  const OpGraph graph = graph_of(gpt("", "",
                                     ", kv_heads: 2, ffn: 1536, gated_mlp: true, rms_norm: true, "
                                     "bias: false, tied_embeddings: false, dropout: false"));
  const double kv = 2 * 64;  // two heads of 64
  CHECK(layer_of(graph).parameters() == h * (h + 2 * kv) + h * h + 3 * h * 1536 + 2 * h);
}

TEST_CASE("the blocks of a model sum to its parameter count") {
  for (const char* model : {"gpt3-175b", "llama3-8b", "mpt-7b"}) {
    CAPTURE(model);
    const OpGraph graph = graph_of(fmt::format(R"(
model: {}
cluster: {{name: c, gpu: a100-80}}
training: {{sequence_length: 2048, global_batch: 1}}
)",
                                               model));
    double sum = 0;
    for (const std::size_t block : graph.chain) sum += graph.blocks[block].parameters();
    CHECK(sum == nine_digits(graph.total_parameters));
  }
}

TEST_CASE("every parameter's gradient is reported once, on the rank that owns it") {
  for (const char* split : {"tensor: 1", "tensor: 4", "tensor: 4, sequence: true"}) {
    const OpGraph graph = graph_of(gpt("", split));
    for (const Block& block : graph.blocks) {
      for (const Op* op : block.order()) {
        CAPTURE(op->name);
        CHECK(gradients_of(*op) ==
              std::accumulate(op->parameters.begin(), op->parameters.end(), 0.0));
      }
    }
  }
}

TEST_CASE("a layer computes 24 b s h^2 (1 + s/6h) FLOPs forward, and twice that backward") {
  const OpGraph graph = graph_of(gpt(", attention: unfused"));
  double forward = 0;
  for (const Op* op : layer_of(graph).order()) {
    CAPTURE(op->name);
    CHECK(gemm_flops(op->forward) == op->flops.flops());
    CHECK(gemm_flops(op->backward) == 2 * op->flops.flops());
    forward += op->flops.flops();
  }
  CHECK(forward == nine_digits(24 * b * s * h * h * (1 + s / (6 * h))));
}

TEST_CASE("a step computes 72 b s l h^2 (1 + s/6h + V/12lh) model FLOPs a micro-batch") {
  // Korthikanti et al. 2022, appendix A. Eight replicas, one micro-batch each.
  const double micro_batch = 72 * b * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h));
  CHECK(graph_of(gpt()).model_flops.flops() == nine_digits(8 * micro_batch));
  const OpGraph split = graph_of(gpt("", "tensor: 8"));  // a replica takes eight micro-batches
  CHECK(split.model_flops.flops() == nine_digits(8 * micro_batch));
}

TEST_CASE("a tensor-parallel layer has two all-reduces of 2 b s h bytes in each direction") {
  const OpGraph graph = graph_of(gpt("", "tensor: 4"));
  for (const bool forward : {true, false}) {
    const Collected all = collectives(layer_of(graph), forward);
    CHECK(count(all, CollectiveOp::all_reduce) == 2);
    CHECK(all.kinds.size() == 2);
    CHECK(all.bytes == 2 * 2 * b * s * h);
    CHECK(all.joined);
  }
}

TEST_CASE("sequence parallelism turns them into gathers and scatters, and gathers again backward") {
  const OpGraph graph = graph_of(gpt("", "tensor: 4, sequence: true"));
  const Collected forward = collectives(layer_of(graph), true);
  CHECK(count(forward, CollectiveOp::all_gather) == 2);
  CHECK(count(forward, CollectiveOp::reduce_scatter) == 2);
  const Collected backward = collectives(layer_of(graph), false);
  CHECK(count(backward, CollectiveOp::all_gather) == 4);  // two gradients, two saved inputs
  CHECK(count(backward, CollectiveOp::reduce_scatter) == 2);
  CHECK(backward.joined);
}

TEST_CASE("DTensor copies behind gathers and before scatters, and gathers no input again") {
  const OpGraph graph =
      graph_of(gpt(", fused_qkv: false", "tensor: 4, sequence: true, dtensor: true"));
  const Collected forward = collectives(layer_of(graph), true);
  CHECK(count(forward, CollectiveOp::all_gather) == 2);
  CHECK(count(forward, CollectiveOp::reduce_scatter) == 2);
  const Collected backward = collectives(layer_of(graph), false);
  CHECK(count(backward, CollectiveOp::all_gather) == 2);  // two gradients
  CHECK(count(backward, CollectiveOp::reduce_scatter) == 2);
  CHECK(backward.joined);
  // Each copy reads and writes the whole tensor.
  CHECK(moved_bytes(graph, " gathered") == 2 * 2 * 2 * b * s * h);
  CHECK(moved_bytes(graph, " to scatter") == 2 * 2 * 2 * b * s * h);
  // The gathered inputs are kept whole.
  const OpGraph megatron = graph_of(gpt(", fused_qkv: false", "tensor: 4, sequence: true"));
  const Bytes more = layer_of(graph).saved({}) - layer_of(megatron).saved({});
  CHECK(more.bytes() == 2 * 2 * b * s * h * 3 / 4);
}

TEST_CASE(
    "with ColwiseParallel alone each layer of an input gathers, keeps and scatters for itself") {
  // A profile of KempnerForge (benchmarks/profiling/13b_24gpu_profiling.md) has 12 gathers and 8
  // scatters a layer whose forward pass runs twice and stops at the last product: 5 + 5 + 2, and
  // 2 + 1 + 5.
  const std::string split = "tensor: 4, sequence: true, dtensor: true";
  const auto layer = [&](const std::string& more) {
    return graph_of(gpt(", fused_qkv: false", split + more, ", gated_mlp: true"));
  };
  const OpGraph each = layer(", gather_each: true");
  const Collected forward = collectives(layer_of(each), true);
  CHECK(count(forward, CollectiveOp::all_gather) == 5);  // queries, keys, values, gate, up
  CHECK(count(forward, CollectiveOp::reduce_scatter) == 2);
  const Collected backward = collectives(layer_of(each), false);
  CHECK(count(backward, CollectiveOp::all_gather) == 2);  // two gradients
  CHECK(count(backward, CollectiveOp::reduce_scatter) == 5);
  CHECK(backward.joined);
  // Three gathered inputs more are kept, and of each rank's tokens three gradients are added.
  const OpGraph once = layer("");
  const Bytes more = layer_of(each).saved({}) - layer_of(once).saved({});
  CHECK(more.bytes() == 3 * 2 * b * s * h);
  CHECK(moved_bytes(each, " gradient sum") == 3 * 3 * 2 * b * s * h / 4);
  CHECK(moved_bytes(once, " gradient sum") == 2 * 3 * 2 * b * s * h);
}

TEST_CASE("without tensor parallelism nothing is communicated inside a layer") {
  const OpGraph graph = graph_of(gpt());
  for (const Block& block : graph.blocks) {
    CHECK(collectives(block, true).kinds.empty());
    CHECK(collectives(block, false).kinds.empty());
  }
}

TEST_CASE("queries, keys and values by three layers: the same work and memory, in smaller GEMMs") {
  const OpGraph together = graph_of(gpt());
  const OpGraph apart = graph_of(gpt(", fused_qkv: false"));
  const auto gemms = [](const OpGraph& graph) {
    std::vector<std::int64_t> widths;
    for (const Op* op : layer_of(graph).order()) {
      const auto* launch = std::get_if<Launch>(&op->forward.front());
      const auto* gemm = launch == nullptr ? nullptr : std::get_if<Gemm>(&launch->work);
      if (gemm != nullptr && gemm->batch == 1) widths.push_back(gemm->n);
    }
    return widths;
  };
  CHECK(gemms(together) == std::vector<std::int64_t>{1536, 512, 2048, 512});
  CHECK(gemms(apart) == std::vector<std::int64_t>{512, 512, 512, 512, 2048, 512});
  CHECK(apart.model_flops.flops() == together.model_flops.flops());
  CHECK(layer_of(apart).parameters() == layer_of(together).parameters());
  const auto saved = [](const OpGraph& graph) {
    double sum = 0;
    for (const Op* op : layer_of(graph).order()) sum += op->saved.bytes();
    return sum;
  };
  CHECK(saved(apart) == saved(together));
  // The gradients of the input that are added: two sums, of two tensors read and one written each.
  CHECK(moved_bytes(apart, "gradient sum") == 2 * 3 * 2 * b * s * h);
}

TEST_CASE("tokens and positions that products look up take 2 T (V + P) h FLOPs in each direction") {
  const auto embedding = [](const std::string& style, const std::string& parallelism) {
    const std::string training = ", fusion: " + style;
    const OpGraph graph = graph_of(gpt(training, parallelism, ", positions: 1024"));
    return *graph.blocks.front().order().front();
  };
  for (const double tensor : {1, 4}) {
    const std::string split = fmt::format("tensor: {}", tensor);
    const double rows = V / tensor + 1024;
    const Op by_product = embedding("maxtext", split);
    CHECK(gemm_flops(by_product.forward) == 2 * b * s * rows * h);
    CHECK(gemm_flops(by_product.backward) == 2 * b * s * rows * h);
    const Op by_index = embedding("xla", split);
    CHECK(gemm_flops(by_index.forward) == 0);
    CHECK(by_product.saved.bytes() - by_index.saved.bytes() == 2 * b * s * rows);
    CHECK(by_product.parameters == by_index.parameters);
  }
}

TEST_CASE("a tied head owns its weights only where the embedding is on another stage") {
  const auto last = [](const OpGraph& graph) {
    return graph.blocks[graph.chain.back()].parameters();
  };
  const double head = last(graph_of(gpt()));
  const OpGraph stages = graph_of(gpt("", "pipeline: {stages: 2}"));
  CHECK(last(stages) - head == V * h);
  CHECK(stages.tied_elements == V * h);
  REQUIRE(stages.without_copy.contains(stages.chain.back()));
  CHECK(stages.blocks[stages.without_copy.at(stages.chain.back())].parameters() == head);
}

TEST_CASE("the vocabulary is padded on each tensor rank, to 128 unless training says otherwise") {
  const auto rows = [](int vocabulary, const std::string& training, int tensor) {
    const OpGraph graph = graph_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 512, heads: 8, vocabulary: {}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 256, global_batch: 8, precision: fp16{}}}
parallelism: {{tensor: {}}}
)",
                                               vocabulary, training, tensor));
    return graph.blocks.front().order().front()->parameters.front() / h;
  };
  CHECK(rows(50257, "", 1) == 50257);
  CHECK(rows(50257, ", vocabulary_multiple: 128", 1) == 50304);
  CHECK(rows(51200, "", 8) == 6400);
  CHECK(rows(50257, "", 8) == 6400);
  CHECK(rows(1025, "", 2) == 640);
  CHECK(rows(1025, ", vocabulary_multiple: 8", 2) == 520);
  CHECK(rows(1025, ", vocabulary_multiple: 1", 2) == 513);
}

TEST_CASE("a model is a chain: embedding, its layers, head") {
  const OpGraph graph = graph_of(gpt());
  CHECK(graph.chain == std::vector<std::size_t>{0, 1, 1, 1, 1, 2});
  CHECK(graph.boundary.bytes() == 2 * b * s * h);
  CHECK(layer_of(graph).recomputable);
}

TEST_CASE("an MLP stack is its layers and a loss, of L w (w + 1) parameters with bias") {
  const OpGraph graph = graph_of(R"(
model: {name: m, kind: mlp, layers: 3, width: 100, bias: true}
cluster: {name: c, gpu: a100-80}
training: {global_batch: 8, micro_batch: 4, precision: fp32}
)");
  CHECK(graph.chain == std::vector<std::size_t>{0, 0, 0, 1});
  CHECK(graph.total_parameters == 3 * 100 * 101);
  CHECK(graph.blocks[0].parameters() == 100 * 101);
  CHECK(graph.model_flops.flops() == 2 * 3 * 3 * 2.0 * 4 * 100 * 100);  // two micro-batches
}

TEST_CASE("ops run in an order in which each finds its inputs, and a circle is a defect") {
  OpDag dag;
  for (const char* name : {"first", "second", "third"}) {
    Op op;
    op.name = name;
    dag.add(op, {});
  }
  dag.edges = {{2, 0}, {0, 1}};
  Block block{.name = "block", .dag = dag, .input = Bytes{0}};
  std::string order;
  for (const Op* op : block.order()) order += op->name + " ";
  CHECK(order == "third first second ");
  block.dag.edges.emplace_back(1, 2);
  CHECK_THROWS_AS(block.order(), InternalError);
}

TEST_CASE("beside compiled layers the loss is one kernel, or PyTorch's where it is not compiled") {
  const auto bytes = [](const char* style) {
    const OpGraph graph = graph_of(gpt(std::string(", cross_entropy: torch, fusion: ") + style));
    const Op& head = *graph.blocks.back().order().back();
    return std::get<MemoryBound>(std::get<Launch>(head.forward.at(0)).work).bytes.bytes();
  };
  CHECK(bytes("compiled") == b * s * V * 2);
  CHECK(bytes("compiled-layers") == b * s * V * 14);
}

TEST_CASE("each library's cross entropy reads and writes its own bytes a logit") {
  struct Row {
    const char* name;
    double forward, backward, saved;  // 2 bytes a 16-bit number, 4 an fp32 one
  };
  for (const Row& row :
       {Row{"megatron", 38, 14, 4}, Row{"torch", 14, 22, 4}, Row{"xentropy", 2, 4, 2},
        Row{"transformer_engine", 6, 4, 2}, Row{"flash_attn", 2, 4, 2}, Row{"liger", 8, 14, 4}}) {
    CAPTURE(row.name);
    const OpGraph graph = graph_of(gpt(fmt::format(", cross_entropy: {}", row.name)));
    const Op& head = *graph.blocks.back().order().back();
    const auto bytes = [](const Items& items) {
      return std::get<MemoryBound>(std::get<Launch>(items.at(0)).work).bytes.bytes();
    };
    CHECK(bytes(head.forward) == b * s * V * row.forward);
    CHECK(bytes(head.backward) == b * s * V * row.backward);
    CHECK(head.saved.bytes() == b * s * V * row.saved);
  }
}

TEST_CASE("losses of a split vocabulary exchange so many numbers a token") {
  for (const auto& [name, exchanges] :
       {std::pair{"megatron", 3}, std::pair{"megatron_fused", 2},
        std::pair{"transformer_engine", 1}, std::pair{"flash_attn", 2}, std::pair{"liger", 3}}) {
    CAPTURE(name);
    const OpGraph graph =
        graph_of(gpt(fmt::format(", cross_entropy: {}", name), "tensor: 4, sequence: true"));
    const Op& head = *graph.blocks.back().order().back();
    int found = 0;
    for (const Item& item : head.forward) {
      const auto* exchange = std::get_if<StartCollective>(&item);
      if (exchange == nullptr) continue;
      CHECK(exchange->bytes.bytes() == 4 * b * s);
      ++found;
    }
    CHECK(found == exchanges);
  }
}

TEST_CASE("a loss of whole tokens has split logits gathered by DTensor, and is each rank's") {
  const OpGraph graph = graph_of(
      gpt(", fused_qkv: false, cross_entropy: torch", "tensor: 4, sequence: true, dtensor: true"));
  const Op& head = *graph.blocks.back().order().back();
  const auto& gather = std::get<StartCollective>(head.forward.at(0));
  CHECK(gather.op == CollectiveOp::all_gather);
  CHECK(gather.bytes.bytes() == b * s * V * 2);
  std::vector<double> moved;
  for (const Items& items : {head.forward, head.backward}) {
    for (const Item& item : items) {
      if (const auto* launch = std::get_if<Launch>(&item))
        moved.push_back(std::get<MemoryBound>(launch->work).bytes.bytes() / (b * s * V));
    }
  }
  // The copy into place, the loss; its gradient, and the copy of the own quarter of it.
  CHECK(moved == std::vector<double>{4, 14, 22, 1});
}

TEST_CASE("loss metrics repeat PyTorch's forward cross entropy and keep nothing") {
  const OpGraph without = graph_of(gpt(", cross_entropy: xentropy"));
  const OpGraph with = graph_of(gpt(", cross_entropy: xentropy, loss_metrics: 2"));
  const Op& head = *with.blocks.back().order().back();
  REQUIRE(head.forward.size() == 3);
  for (const std::size_t i : {1, 2}) {
    const auto& metric = std::get<MemoryBound>(std::get<Launch>(head.forward[i]).work);
    CHECK(metric.bytes.bytes() == b * s * V * 14);
  }
  CHECK(head.backward.size() == 1);
  CHECK(head.saved == without.blocks.back().order().back()->saved);
}

TEST_CASE("an early stop repeats a layer up to the input of its last GEMM") {
  const auto repeated = [](const std::string& early_stop, const std::string& model) {
    const Scenario scenario =
        scenario_of(gpt(", recompute: {kind: full, early_stop: " + early_stop + "}", "", model));
    const OpGraph graph = build(scenario);
    std::vector<std::string> names;
    for (const Op* op : layer_of(graph).recomputed(scenario.training.recompute))
      names.push_back(op->name);
    return names;
  };
  const auto all = repeated("false", ", dropout: false");
  REQUIRE(all.size() == 10);
  CHECK(all.back() == "mlp residual");
  const auto stopped = repeated("true", ", dropout: false");
  CHECK(stopped == std::vector<std::string>(all.begin(), all.end() - 2));
  CHECK(stopped.back() == "activation");
  // The mask of the last dropout is there only when its kernel has run.
  CHECK(repeated("true", ", dropout: true") == all);
}

TEST_CASE("FLOPs that are repeated do not count what an early stop leaves out") {
  const OpGraph graph = graph_of(gpt("", "", ", dropout: false"));
  Recomputation recompute = Recompute::full;
  const Flops all = layer_of(graph).repeated(recompute).products;
  recompute.early_stop = true;
  const Flops stopped = layer_of(graph).repeated(recompute).products;
  CHECK((all - stopped).flops() == doctest::Approx(2 * b * s * 4 * h * h));
}
