// Recompute: what is kept, what comes back at a time, and what runs again.
//
// A GPT layer of hidden size h with a heads keeps, of b sequences of s tokens in 16 bit, in units
// of s b h bytes (Korthikanti et al. 2022, section 4.1): 2 for each norm's input, 2 and 6 around
// the projection to queries, keys and values, 5 a s/h of scores, 2 before the projection behind
// attention, 2, 8 and 8 in the MLP, and two dropout masks: 34 + 5 a s/h. Then
//   core_attention drops 5 a s/h, layernorm the 2 + 2 that norms pass on, mlp and mlp_up 8 + 8;
//   attention 5 a s/h, and behind it the projection's input, 2, a mask, 1, and the input of the
//   norm before the MLP, 2; full keeps 2: of L layers in groups of N, 2 L/N, and N (34 + 5 a s/h) -
//   2 come back at a time; full for N layers alone keeps 2 N + (L - N) (34 + 5 a s/h).
#include "sim/plan/pass/recompute.hpp"

#include <fmt/format.h>

#include "sim/plan/memory/memory_walk.hpp"
#include "sim/plan/pass/segment.hpp"
#include "sim/plan/pass/segment_key.hpp"
#include "sim/plan/program/plan_draft.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 256, b = 2, h = 512, heads = 8;
constexpr double kUnit = s * b * h;
constexpr double kLayer = 34 + 5 * heads * s / h;

/// The closed forms are of attention as Megatron-LM's.
const char* unfused_unless_stated(const std::string& training) {
  return training.find("attention: ") == std::string::npos ? "attention: unfused, " : "";
}

/// Eight layers; `recompute` as a scenario states it.
Scenario gpt(const std::string& recompute, const std::string& parallelism = "",
             const std::string& model = "", int gpus = 1) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 512, heads: 8, vocabulary: 8192{}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {}, intra_node: nvlink3}}
training: {{{}sequence_length: 256, global_batch: 8, micro_batch: 2, precision: fp16, recompute: {}}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 0}}
)",
                                 model, gpus, unfused_unless_stated(recompute), recompute,
                                 parallelism));
}

/// What eight layers keep that do nothing else, and the most that comes back, in units of s b h.
struct Activations {
  explicit Activations(const Scenario& scenario) {
    Block layer = build(scenario).blocks.at(1);
    for (Op& op : layer.dag.ops) op.output = op.scratch = Bytes{0};
    OpGraph graph = paper_graph(std::move(layer), 8);
    const ChunkMemory memory = chunk_memory(scenario, graph, 0, 0);
    const auto of = [&](PassKind pass) { return memory[static_cast<std::size_t>(pass)]; };
    kept = of(PassKind::forward).leaves.activations.bytes() / kUnit;
    back = of(PassKind::backward).most.recomputed.bytes() / kUnit;
  }
  double kept, back;
};

/// FLOPs that recompute adds, in forward passes of one layer of one micro-batch.
double layers_again(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  const double layer = 24 * b * s * h * h * (1 + s / (6 * h));
  return (hardware_flops(scenario, graph) - graph.model_flops).flops() / layer;
}

/// Kernels that a backward pass repeats in one layer, in order.
std::string repeated_kernels(const Scenario& scenario) {
  Experiment experiment(scenario);
  Plan plan = make_plan(experiment.scenario, experiment.graph);
  PlanDraft draft{experiment.scenario, experiment.graph, plan};
  const auto first = plan.chains.size();
  segment_of(draft, {}, {1}, PassKind::backward, Reduction::none);
  std::string names;
  for (std::size_t i = first; i < plan.chains.size(); ++i) {
    for (const Kernel& kernel : plan.chains[i].kernels) {
      if (kernel.cause == Cause::recompute) names += plan.names[kernel.name] + ", ";
    }
  }
  return names;
}

}  // namespace

TEST_CASE("a word is the kind of recompute, and a map says the rest") {
  CHECK(gpt("full").training.recompute == gpt("{kind: full}").training.recompute);
  CHECK(gpt("selective").training.recompute ==
        gpt("{kind: selective, modules: [core_attention]}").training.recompute);
}

TEST_CASE("selective recompute drops 5 a s/h of scores, 4 behind norms, 16 in the MLP") {
  const auto kept = [](const char* modules) {
    return Activations(gpt(fmt::format("{{kind: selective, modules: [{}]}}", modules))).kept;
  };
  CHECK(Activations(gpt("none")).kept == nine_digits(8 * kLayer));
  CHECK(kept("core_attention") == nine_digits(8 * 34));
  CHECK(kept("layernorm") == nine_digits(8 * (kLayer - 4)));
  CHECK(kept("mlp") == nine_digits(8 * (kLayer - 16)));
  CHECK(kept("mlp_up") == nine_digits(8 * (kLayer - 16)));
  CHECK(kept("attention") == nine_digits(8 * (34 - 5)));
  CHECK(kept("core_attention, layernorm, mlp") == nine_digits(8 * 14));
}

// A fused kernel keeps 4 B of each row and head. Policies of jax.checkpoint do not name its output;
// Megatron-LM's checkpoint keeps it as the projection's input.
TEST_CASE("in a loop of XLA's the output of attention is dropped with what it keeps") {
  const auto kept = [](const std::string& modules, const std::string& more) {
    return Activations(gpt(fmt::format("{}, attention: flash2{}", modules, more))).kept / 8;
  };
  const std::string core = "{kind: selective, modules: [core_attention]}";
  const double of_kernel = 4 * heads / h;
  CHECK(kept("none", "") - kept(core, "") == nine_digits(of_kernel));
  const std::string scanned = ", fusion: xla, scan_layers: true";
  CHECK(kept("none", scanned) - kept(core, scanned) == nine_digits(of_kernel + 2));
}

TEST_CASE("groups of N layers keep 2 for each group, and bring back N layers but for that") {
  for (const int N : {1, 2, 4, 8}) {
    CAPTURE(N);
    const Activations layers(gpt(fmt::format("{{kind: full, method: uniform, layers: {}}}", N)));
    CHECK(layers.kept == nine_digits(2.0 * 8 / N));
    CHECK(layers.back == nine_digits(N * kLayer - 2));
  }
}

TEST_CASE("recompute of N layers of a chunk keeps 2 for each of them and all of the others") {
  for (const int N : {1, 3, 8}) {
    CAPTURE(N);
    const Activations layers(gpt(fmt::format("{{kind: full, method: block, layers: {}}}", N)));
    CHECK(layers.kept == nine_digits(2.0 * N + (8 - N) * kLayer));
    // The most is held where backward begins, at layers that keep all, if there are any.
    CHECK(layers.back == doctest::Approx(N == 8 ? kLayer - 2 : 0));
  }
}

TEST_CASE("modules come back one after the other") {
  const auto back = [](const char* modules) {
    return Activations(gpt(fmt::format("{{kind: selective, modules: [{}]}}", modules))).back;
  };
  // The MLP's are back where backward begins, which holds the most; the scores only after that.
  CHECK(back("mlp") == nine_digits(16));
  CHECK(back("core_attention") == 0);
  CHECK(back("core_attention, mlp") == nine_digits(16));
}

TEST_CASE("HFU counts L forward passes again, N of each chunk, or the modules") {
  // Four micro-batches on one GPU, one on each pair of two stages.
  CHECK(layers_again(gpt("full")) == nine_digits(4 * 8));
  CHECK(layers_again(gpt("{kind: full, layers: 4}")) == nine_digits(4 * 8));
  CHECK(layers_again(gpt("{kind: full, method: block, layers: 3}")) == nine_digits(4 * 3));
  const std::string split = "pipeline: {stages: 2, schedule: interleaved, chunks: 2}";
  CHECK(layers_again(gpt("{kind: full, method: block, layers: 1}", split, "", 2)) ==
        nine_digits(4 * 4));
  const double mlp = 16 * b * s * h * h / (24 * b * s * h * h * (1 + s / (6 * h)));
  CHECK(layers_again(gpt("{kind: selective, modules: [mlp]}")) == nine_digits(4 * 8 * mlp));
  CHECK(layers_again(gpt("{kind: selective, modules: [mlp_up]}")) == nine_digits(4 * 8 * mlp / 2));
  const double core = 4 * b * s * s * h, projection = 2 * b * s * h * h;
  const double layer = 24 * b * s * h * h * (1 + s / (6 * h));
  CHECK(layers_again(gpt("{kind: selective, modules: [attention]}")) ==
        nine_digits(4 * 8 * (core + projection) / layer));
  CHECK(layers_again(gpt("{kind: selective, modules: [layernorm]}")) == 0);
}

TEST_CASE("stages that hold the same layers count them once between them") {
  const std::string split =
      "pipeline: {stages: 2, schedule: dualpipe, chunks: 2, overlap_p2p: true}";
  const std::string both = "{kind: full, method: block, layers: 1}";
  CHECK(layers_again(gpt(both, split, "", 2)) == nine_digits(4 * 2));
}

TEST_CASE("a step of L layers takes L (F + B) and F for each layer that runs again") {
  const Seconds F = 2_us, B = 4_us;
  const auto step = [&](const std::string& recompute) {
    Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 64, heads: 1, vocabulary: 64}}
cluster: {{name: c, gpu: a100-80}}
training: {{attention: unfused, sequence_length: 64, global_batch: 1, precision: fp16, recompute: {}}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                                             recompute));
    return Experiment(scenario, paper_graph(paper_layer(F, B), 8)).step_seconds();
  };
  const double plain = 8 * (F + B).seconds();
  CHECK(step("none") == nine_digits(plain));
  CHECK(step("full") == nine_digits(plain + 8 * F.seconds()));
  CHECK(step("{kind: full, layers: 4}") == nine_digits(plain + 8 * F.seconds()));
  CHECK(step("{kind: full, method: block, layers: 3}") == nine_digits(plain + 3 * F.seconds()));
}

TEST_CASE("under ZeRO 3, too, a step takes F for each of the first N layers") {
  const Seconds F = 2_us, B = 4_us;
  const auto step = [&](const std::string& recompute) {
    Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 64, heads: 1, vocabulary: 64}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 2, intra_node: nvlink3}}
training: {{attention: unfused, sequence_length: 64, global_batch: 2, precision: fp16, recompute: {}}}
parallelism: {{data: {{sharding: zero3}}}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                                             recompute));
    return Experiment(scenario, paper_graph(paper_layer(F, B), 8)).step_seconds();
  };
  const double plain = step("none");
  CHECK(step("full") - plain == nine_digits(8 * F.seconds()));
  CHECK(step("{kind: full, method: block, layers: 3}") - plain == nine_digits(3 * F.seconds()));
  CHECK(step("{kind: full, layers: 4}") - plain == nine_digits(8 * F.seconds()));
}

TEST_CASE("zero3 gathers layers of a group once more before they run forward again") {
  const auto gathered = [](const char* recompute) {
    const Experiment e(scenario_of(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 64, heads: 1, vocabulary: 64}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 2, intra_node: nvlink3}}
training: {{attention: unfused, sequence_length: 64, global_batch: 2, precision: fp16, recompute: {}}}
parallelism: {{data: {{sharding: zero3}}}}
run: {{steps: 1, warmup: 0}}
)",
                                               recompute)));
    double bytes = 0, of_layer = 0;
    for (const Task& task : e.plan.program(0).tasks) {
      if (task.kind != TaskKind::communicate) continue;
      const Operation& operation = e.plan.operations[task.work];
      if (e.plan.names[operation.name].starts_with("all_gather")) bytes += operation.bytes.bytes();
    }
    for (const Block& block : e.graph.blocks) {
      if (block.recomputable) of_layer = 2 * block.parameters();
    }
    return bytes / of_layer;
  };
  const double alone = gathered("full");
  CHECK(gathered("none") == nine_digits(alone));
  for (const char* groups : {"{kind: full, layers: 2}", "{kind: full, layers: 8}"}) {
    CAPTURE(groups);
    CHECK(gathered(groups) - alone == nine_digits(8));
  }
}

TEST_CASE("modules run again in the order in which the backward pass needs them") {
  CHECK(repeated_kernels(gpt("selective")) ==
        "rotary embedding, scores, softmax, attention dropout, context, context to the back, ");
  CHECK(repeated_kernels(gpt("{kind: selective, modules: [layernorm, mlp]}")) ==
        "mlp norm, mlp up, activation, mlp down, attention norm, ");
  CHECK(repeated_kernels(gpt("{kind: selective, modules: [attention, layernorm, mlp_up]}")) ==
        "rotary embedding, scores, softmax, attention dropout, context, context to the back, "
        "projection, attention residual, mlp norm, mlp up, activation, attention norm, ");
  const std::string experts =
      ", experts: {count: 4, top_k: 1, ffn: 512, shared_ffn: 512}, dropout: false, "
      "bias: false";
  CHECK(repeated_kernels(gpt("{kind: selective, modules: [moe_act]}", "", experts)) ==
        "experts activation, ");
  CHECK(repeated_kernels(gpt("{kind: selective, modules: [shared_experts]}", "", experts)) ==
        "shared up, activation, shared down, ");
  const std::string latent =
      ", mla: {query_rank: 64, kv_rank: 64, nope_dim: 32, rope_dim: 16, value_dim: 32}, bias: "
      "false";
  CHECK(repeated_kernels(gpt("{kind: selective, modules: [mla_up_proj]}", "", latent)) ==
        "query up, kv up, rotary queries, keys and values, ");
}

/// Layers of seven products: keys and values half as wide as queries, gate and up twice.
Scenario llama(const std::string& recompute, const std::string& parallelism = "", int gpus = 1) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 512, heads: 8, kv_heads: 4, ffn: 1024, vocabulary: 8192,
         gated_mlp: true, rms_norm: true, bias: false, dropout: false}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {}, intra_node: nvlink3}}
training: {{sequence_length: 256, global_batch: 8, micro_batch: 2, precision: fp16, attention: flash2,
            fused_qkv: false, recompute: {{kind: selective, modules: [{}]}}}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 0}}
)",
                                 gpus, recompute, parallelism));
}

TEST_CASE("every second of seven products runs again, and all that only moves bytes") {
  const Scenario scenario = llama("every_second_matmul");
  CHECK(repeated_kernels(scenario) ==
        "attention norm, keys, rotary embedding, projection, attention residual, mlp norm, mlp up, "
        "swiglu, ");
  // Kept: the layer's input, queries, values, attention with an fp32 number a row and head, the
  // gate, and what the last product puts out.
  const double kept = 2 + 2 + 1 + (2 + 4 * heads / h) + 4 + 2;
  CHECK(Activations(scenario).kept == nine_digits(8 * kept));
  const double layer = 24 * b * s * h * h * (1 + s / (6 * h));
  const double again = 2 * b * s * h * (h / 2 + h + 2 * h);
  CHECK(layers_again(scenario) == nine_digits(4 * 8 * again / layer));
}

TEST_CASE("the norm before queries, keys and values of their own runs again") {
  CHECK(repeated_kernels(llama("attention, layernorm, mlp_up")) ==
        "rotary embedding, attention, projection, attention residual, mlp norm, mlp up, swiglu, "
        "attention norm, ");
}

TEST_CASE("what is scattered over tensor ranks is kept, so that its product does not run again") {
  CHECK(repeated_kernels(llama("every_second_matmul", "tensor: 2, sequence: true", 2)) ==
        "attention norm, keys, rotary embedding, attention residual, mlp norm, mlp up, swiglu, ");
}

TEST_CASE("experts run again whole, and keep what their norm passes on") {
  const std::string experts =
      ", experts: {count: 4, top_k: 2, ffn: 512}, dropout: false, bias: false";
  const auto kept = [&](const char* recompute) {
    return Activations(gpt(recompute, "", experts)).kept / 8;
  };
  // Without dropout and biases a layer keeps 2 + 2 + 6 + 2 and 2 in the attention half, there 2 a
  // s/h of scores; behind the norm 2, then 4 e/(s b h) of each of 4 scores a token.
  const double attention = 2 + 2 + 6 + 2 + 2 * heads * s / h;
  const double mlp_norm = 2;
  CHECK(kept("{kind: selective, modules: [moe]}") == nine_digits(attention + mlp_norm + 2));
  // The activation keeps its input and its output: 2 bytes x top_k x 512 of 512 each.
  CHECK(kept("none") - kept("{kind: selective, modules: [moe_act]}") == nine_digits(2.0 * 2));
}

TEST_CASE("of a hybrid's layers those with an MLP repeat it, whichever others there are") {
  const Scenario scenario = scenario_of(R"(
model: {name: m, layers: 3, hidden: 512, heads: 8, vocabulary: 8192, positions: 0,
  experts: {count: 8, top_k: 2, ffn: 256}, hybrid: {pattern: "*-E"}}
cluster: {name: c, gpu: a100-80}
training: {sequence_length: 256, global_batch: 8, recompute: {kind: selective, modules: [mlp]}}
)");
  for (const Block& block : build(scenario).blocks) {
    CAPTURE(block.name);
    CHECK(block.repeated_regions(scenario.training.recompute).size() ==
          (block.name == "mlp layer" ? 1 : 0));
  }
}
