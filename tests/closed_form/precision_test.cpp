// Types of numbers: what is kept in which, and what quantising to fp8 moves.
//
// With fp8 the products of linear layers are fp8, everything else is bf16
// (NVIDIA/TransformerEngine, transformer_engine/pytorch/module/linear.py): parameters and
// activations 2 B an element, the kept inputs of linear layers 1 B. An operand is quantised by rows
// and by columns: 2 B read, 1 + 1 written; 2 more to find its largest value first (current
// scaling); and 1/32 more for each written element with MXFP8. Blackwell needs no second copy of a
// tensor that has one scale (transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported).
//
// An nvfp4 element has 1/2 B and a sixteenth of a scale of 1 B: 9/16 B in each of two copies. A
// tensor is read for its largest value before: 2 B (transformer_engine/common/recipe/__init__.py,
// NVFP4BlockScaling).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 256, b = 2, h = 512, heads = 8, V = 8192;

Scenario gpt_on(const char* gpu, const char* link, const std::string& training,
                const std::string& parallelism, int gpus) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192, dropout: false, bias: false}}
cluster: {{name: c, gpu: {}, gpus_per_node: {}, intra_node: {}}}
training: {{sequence_length: 256, global_batch: 8, micro_batch: 2, attention: unfused, {}}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 0}}
)",
                                 gpu, gpus, link, training, parallelism));
}

Scenario gpt(const std::string& training, const std::string& parallelism = "", int gpus = 1) {
  return gpt_on("h100", "nvlink4", training, parallelism, gpus);
}
Scenario on_blackwell(const std::string& training, const std::string& parallelism = "",
                      int gpus = 1) {
  return gpt_on("b200", "nvlink5", training, parallelism, gpus);
}

struct Tally {
  double casts = 0, narrow_flops = 0, bf16_flops = 0, gathered = 0;
};

void add(Tally& tally, const Items& items) {
  for (const Item& item : items) {
    if (const auto* start = std::get_if<StartCollective>(&item)) {
      if (start->op == CollectiveOp::all_gather) tally.gathered += start->bytes.bytes();
    }
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr) continue;
    if (const auto* gemm = std::get_if<Gemm>(&launch->work)) {
      const bool narrow = needs_scales(gemm->precision);
      (narrow ? tally.narrow_flops : tally.bf16_flops) += gemm->flops().flops();
    } else if (launch->name.ends_with("cast") || launch->name.ends_with("amax")) {
      tally.casts += std::get<MemoryBound>(launch->work).bytes.bytes();
    }
  }
}

/// Forward and backward of one layer.
Tally layer_of(const Scenario& scenario) {
  Tally tally;
  const OpGraph graph = build(scenario);
  for (const Op* op : graph.blocks.at(1).order()) {
    add(tally, op->forward);
    add(tally, op->backward);
  }
  return tally;
}

double kept(const Scenario& scenario) {
  return build(scenario).blocks.at(1).saved(Recompute::none).bytes();
}

double category(const Scenario& scenario, const std::string& name) {
  const StageMemory memory = memory_of_stage(scenario, build(scenario), 0);
  for (const MemoryCategory& category : memory.categories) {
    if (category.name == name) return category.bytes.bytes();
  }
  return 0;
}

}  // namespace

TEST_CASE("linear layers multiply in fp8, attention and logits in bf16") {
  const Tally layer = layer_of(gpt("precision: fp8"));
  CHECK(layer.narrow_flops == nine_digits(3 * 24 * b * s * h * h));
  CHECK(layer.bf16_flops == nine_digits(3 * 4 * b * s * s * h));
  const OpGraph graph = build(gpt("precision: fp8"));
  Tally head;
  for (const Op* op : graph.blocks.back().order()) add(head, op->forward);
  CHECK(head.narrow_flops == 0);
  CHECK(head.bf16_flops == nine_digits(2 * b * s * h * V));
}

TEST_CASE("a layer quantises its four inputs and four output gradients, 4 B an element and more") {
  // Inputs of width h, h, h and 4h, gradients of width 3h, h, 4h and h.
  const double elements = b * s * h * (7 + 9);
  const auto casts = [](const char* training) { return layer_of(gpt(training)).casts; };
  CHECK(casts("precision: bf16") == 0);
  CHECK(casts("precision: fp8") == nine_digits(4 * elements));
  CHECK(casts("precision: fp8, fp8_scaling: current") == nine_digits(6 * elements));
}

// Queries, keys and values by a layer each: their three gradients are as wide as one of 3h.
TEST_CASE("queries, keys and values quantise their input once, but in eager layers") {
  const double input = b * s * h, elements = input * (7 + 9);
  const std::string apart = "precision: fp8, fp8_scaling: current, fused_qkv: false";
  CHECK(layer_of(gpt(apart)).casts == nine_digits(6 * (elements + 2 * input)));
  CHECK(layer_of(gpt(apart + ", fusion: compiled")).casts == nine_digits(6 * elements));
  // Four ranks have a quarter of each tensor before it is gathered, and of the split ones: inputs
  // of width h, h, h and 4h, gradients of 3h, h, 4h and h.
  CHECK(layer_of(gpt(apart, "tensor: 4, sequence: true", 4)).casts ==
        nine_digits(6 * elements / 4));
}

TEST_CASE("tensor ranks agree once on the largest value of the input of queries, keys and values") {
  const auto agreed = [](const std::string& training) {
    const OpGraph graph = build(
        gpt("precision: fp8, fp8_scaling: current" + training, "tensor: 4, sequence: true", 4));
    int count = 0;
    for (const Op* op : graph.blocks.at(1).order()) {
      for (const Item& item : op->forward) {
        const auto* start = std::get_if<StartCollective>(&item);
        count += start != nullptr && start->op == CollectiveOp::all_reduce ? 1 : 0;
      }
    }
    return count;
  };
  CHECK(agreed("") == 2);  // the second one agrees on the scale of the MLP
  CHECK(agreed(", fused_qkv: false") == 2);
}

TEST_CASE("Blackwell writes one copy of a tensor with one scale, two where blocks have theirs") {
  const double elements = b * s * h * (7 + 9);
  const auto casts = [](const char* training) { return layer_of(on_blackwell(training)).casts; };
  CHECK(casts("precision: bf16") == 0);
  CHECK(casts("precision: fp8") == nine_digits(3 * elements));
  CHECK(casts("precision: fp8, fp8_scaling: current") == nine_digits(5 * elements));
  CHECK(casts("precision: fp8, fp8_scaling: mxfp8") == nine_digits((4 + 2.0 / 32) * elements));
  CHECK(category(on_blackwell("precision: fp8"), "fp8 weights") == nine_digits(4 * 12 * h * h));
}

TEST_CASE("a linear layer's casts write 33/32 B an element each way in mxfp8, 9/16 B in nvfp4") {
  // The first layer of the MLP, from h to 4h: its input forward, its output's gradient backward.
  const auto bytes_of = [](const std::string& training, const char* kernel) {
    const OpGraph graph = build(on_blackwell(training));
    for (const Op* op : graph.blocks.at(1).order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch != nullptr && launch->name == kernel)
            return std::get<MemoryBound>(launch->work).bytes.bytes();
        }
      }
    }
    return 0.0;
  };
  const double input = b * s * h, gradient = 4 * input;
  const std::string mx = "precision: fp8, fp8_scaling: mxfp8", nv = "precision: nvfp4";
  CHECK(bytes_of(mx, "mlp up cast amax") == 0);
  CHECK(bytes_of(mx, "mlp up cast") == nine_digits((2 + 2 * 33.0 / 32) * input));
  CHECK(bytes_of(mx, "mlp up gradient cast") == nine_digits((2 + 2 * 33.0 / 32) * gradient));
  CHECK(bytes_of(nv, "mlp up cast amax") == nine_digits(2 * input));
  CHECK(bytes_of(nv, "mlp up cast") == nine_digits((2 + 2 * 9.0 / 16) * input));
  CHECK(bytes_of(nv, "mlp up gradient cast amax") == nine_digits(2 * gradient));
  CHECK(bytes_of(nv, "mlp up gradient cast") == nine_digits((2 + 2 * 9.0 / 16) * gradient));
}

TEST_CASE("all three products of a layer are in nvfp4, and so is what it keeps and gathers") {
  const std::string nv = "precision: nvfp4";
  const Tally layer = layer_of(on_blackwell(nv));
  CHECK(layer.narrow_flops == nine_digits(3 * 24 * b * s * h * h));
  CHECK(layer.bf16_flops == nine_digits(3 * 4 * b * s * s * h));
  CHECK(layer.casts == nine_digits((4 + 2 * 9.0 / 16) * b * s * h * (7 + 9)));
  CHECK(kept(on_blackwell("precision: bf16")) - kept(on_blackwell(nv)) ==
        nine_digits((2 - 9.0 / 16) * b * s * h * 7));
  CHECK(category(on_blackwell(nv), "nvfp4 weights") == nine_digits(2 * 9.0 / 16 * 4 * 12 * h * h));
  CHECK(layer_of(on_blackwell(nv, "tensor: 4, sequence: true", 4)).gathered ==
        nine_digits(6 * b * s * h * 9 / 16));
  const OpGraph graph = build(on_blackwell(nv));
  Tally head;
  for (const Op* op : graph.blocks.back().order()) add(head, op->forward);
  CHECK(head.narrow_flops == 0);
}

TEST_CASE("zero3 quantises weights again after each gather, the others once a step") {
  const Tally sharded = layer_of(gpt("precision: fp8", "data: {sharding: zero3}", 2));
  const double elements = b * s * h * (7 + 9);
  CHECK(sharded.casts == nine_digits(4 * elements + 2 * 4 * 12 * h * h));
}

// A layer's weights, 12 h^2, are read and written; those of the head are multiplied in bf16.
TEST_CASE("what comes in fp8 is turned for forward products, and nothing else is") {
  const OpGraph graph =
      build(gpt("precision: fp8, fp8_parameters: true", "data: {sharding: zero3}", 2));
  const auto turned = [](const Block& block) {
    double bytes = 0;
    for (const Op* op : block.order()) {
      for (const Item& item : op->forward) {
        const auto* launch = std::get_if<Launch>(&item);
        if (launch == nullptr || !launch->name.ends_with("weight transpose")) continue;
        bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
      }
    }
    return bytes;
  };
  CHECK(turned(graph.blocks.at(1)) == nine_digits(2 * 12 * h * h));
  CHECK(turned(graph.blocks.back()) == 0);
}

TEST_CASE("a layer keeps the inputs of its linear layers in 1 B an element") {
  const double inputs = b * s * h * 7;
  CHECK(kept(gpt("precision: bf16")) - kept(gpt("precision: fp8")) == nine_digits(inputs));
  CHECK(kept(on_blackwell("precision: fp8, fp8_scaling: mxfp8")) -
            kept(on_blackwell("precision: fp8")) ==
        nine_digits(inputs / 32));
}

TEST_CASE("tensor ranks gather what they have quantised") {
  const std::string split = "tensor: 4, sequence: true";
  // Forward two inputs, backward them again and two gradients.
  CHECK(layer_of(gpt("precision: bf16", split, 4)).gathered == nine_digits(6 * b * s * h * 2));
  CHECK(layer_of(gpt("precision: fp8", split, 4)).gathered == nine_digits(6 * b * s * h));
}

TEST_CASE("fp8 keeps bf16 parameters and gradients, and 2 B more of each quantised weight") {
  const Scenario narrow = gpt("precision: fp8");
  const Scenario wide = gpt("precision: bf16");
  CHECK(narrow.training.gradients == Precision::bf16);
  for (const char* same : {"parameters", "gradients", "optimizer"}) {
    CAPTURE(same);
    CHECK(category(narrow, same) == category(wide, same));
  }
  CHECK(category(wide, "fp8 weights") == 0);
  CHECK(category(narrow, "fp8 weights") == nine_digits(2 * 4 * 12 * h * h));
}

TEST_CASE("fp32 and tf32 take 4 B an element, and no second copy of the weights") {
  for (const char* precision : {"precision: fp32", "precision: tf32"}) {
    CAPTURE(precision);
    const Scenario scenario = gpt(precision);
    CHECK(scenario.training.element() == 4);
    CHECK(optimizer_bytes(scenario.training) == 8);
  }
}

TEST_CASE("fp16 unscales its gradients, the other types do not") {
  const auto unscales = [](const char* training) {
    const Experiment experiment(gpt(training));
    const auto& names = experiment.plan.names;
    return std::find(names.begin(), names.end(), "unscale gradients") != names.end();
  };
  CHECK(unscales("precision: fp16"));
  CHECK_FALSE(unscales("precision: bf16"));
}

// Four experts on four ranks, one each, so that their groups have one rank; h = 512. Beside forward
// passes the others' parameters are transposed as they come, the experts' behind the update.
TEST_CASE("fp8 parameters are transposed once a step, those that come and those that are here") {
  const auto transposed = [](const std::string& experts, const std::string& parallelism) {
    const Experiment e(scenario_of(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192, dropout: false, bias: false{}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 4, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: 8, precision: fp8, fp8_parameters: true}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 1}}
)",
                                               experts, parallelism)));
    double bytes = 0;
    const GpuProfile& gpu = e.scenario.cluster.gpu;
    for (const Task& task : e.plan.program(0).tasks) {
      if (task.kind != TaskKind::chain || task.step != 1) continue;
      for (const Kernel& kernel : e.plan.chains[task.work].kernels) {
        if (e.plan.names[kernel.name] != "transpose weights") continue;
        const double moving = std::sqrt(std::pow(kernel.seconds, 2) -
                                        std::pow(gpu.memory_kernels.latency.seconds(), 2));
        bytes += moving * gpu.memory_kernels.optimizer.bytes_per_second();
      }
    }
    return bytes;
  };
  const std::string behind = "data: {sharding: zero1}",
                    beside = "data: {sharding: zero1, overlap_param_gather: true}";
  // Read and written, 1 B an element each.
  for (const std::string& data : {behind, beside})
    CHECK(transposed("", data) == nine_digits(2 * 4 * 12 * h * h));
  const std::string experts = ", experts: {count: 4, top_k: 1, ffn: 1024}";
  for (const std::string& data : {behind, beside})
    CHECK(transposed(experts, "expert: {degree: 4}, " + data) ==
          nine_digits(2 * 4 * (4 * h * h + 2 * h * 1024)));
}

TEST_CASE("ranks of a stage agree on the scales of fp8 after each pass, others' ranks do not") {
  const auto reductions = [](const std::string& training, const std::string& parallelism,
                             const char* channel) {
    const Experiment e(gpt("precision: fp8" + training, parallelism, 8));
    int count = 0;
    for (const Task& task : e.plan.program(0).tasks) {
      count += task.kind == TaskKind::communicate &&
               std::string(name_of(task.channel)) == channel &&
               e.plan.operations[task.work].bytes < Bytes{1000};
    }
    return count;
  };
  // Eight sequences: two tensor ranks, four replicas, micro-batches of two are one each, of one
  // two; with two stages, two replicas and twice as many.
  const std::string tensor = "tensor: 2, data: {sharding: zero1}";
  CHECK(reductions("", tensor, "amax") == 2);
  CHECK(reductions(", reduce_amax: all", tensor, "amax") == 2);
  CHECK(reductions("", tensor + ", pipeline: {stages: 2}", "amax") == 4);
  CHECK(reductions(", reduce_amax: none", tensor, "amax") == 0);
  CHECK(reductions(", reduce_amax: tensor", tensor, "amax") == 0);
  CHECK(reductions(", reduce_amax: tensor", tensor, "tensor") ==
        2 + reductions(", reduce_amax: none", tensor, "tensor"));
  CHECK(reductions(", fp8_scaling: current", tensor, "amax") == 0);
  // Without other ranks there is nobody to agree with.
  const Experiment alone(gpt("precision: fp8"));
  for (const Task& task : alone.plan.program(0).tasks) CHECK(task.kind != TaskKind::communicate);
}

TEST_CASE("shares that are gathered in nvfp4 are cast as slowly as all else is") {
  const auto seconds = [](const char* training) {
    const Experiment e(on_blackwell(training, "data: {sharding: zero3}", 2));
    double longest = 0;
    for (const Chain& chain : e.plan.chains) {
      for (const Kernel& kernel : chain.kernels) {
        if (e.plan.names[kernel.name] == "cast share of weights")
          longest = std::max(longest, kernel.seconds);
      }
    }
    return longest;
  };
  const GpuProfile gpu = on_blackwell("precision: bf16").cluster.gpu;
  const auto expected = [&](double bytes, double slower) {
    // A layer's four matrices, of which each of two ranks has half.
    const MemoryBound cast{
        .bytes = Bytes{bytes * 12 * h * h / 2}, .rate = MemoryRate::optimizer, .slower = slower};
    return kernel_time(cast, gpu).seconds();
  };
  const double nvfp4 = seconds("precision: nvfp4, fp8_parameters: true");
  const double mxfp8 = seconds("precision: fp8, fp8_scaling: mxfp8, fp8_parameters: true");
  REQUIRE(mxfp8 > 0);
  CHECK(nvfp4 / mxfp8 == nine_digits(expected(2 + 2 + 9.0 / 16, 1.42) / expected(3 + 1.0 / 32, 1)));
}
