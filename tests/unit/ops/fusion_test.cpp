// Fused, unfused and compiled element-wise kernels: their number, their bytes, and what they keep.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/ops/scalar_loads.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double b = 2, s = 64, h = 256, heads = 4, f = 512;
constexpr double kActivation = 2 * b * s * h;  // in bf16
constexpr double kMask = b * s * h;  // masks of dropout on an activation, one byte an element
constexpr double kScores = 2 * b * heads * s * s;  // in bf16
constexpr double kScoreMask = kScores / 2;

/// The counts are of kernels of attention as Megatron-LM's.
const char* unfused_unless_stated(const std::string& training) {
  return training.find("attention: ") == std::string::npos ? "attention: unfused, " : "";
}

Block layer_of(const std::string& model, const std::string& training) {
  const OpGraph graph =
      build(scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, {}}}
cluster: {{name: c, gpu: a100-80}}
training: {{{}sequence_length: 64, global_batch: 2, micro_batch: 2, {}}}
)",
                                    model, unfused_unless_stated(training), training)));
  return graph.blocks.at(1);
}

struct Traffic {
  int kernels = 0;
  double bytes = 0;
};

Traffic traffic(const Block& block, bool forward) {
  Traffic sum;
  for (const Op* op : block.order()) {
    for (const Item& item : forward ? op->forward : op->backward) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch == nullptr || !std::holds_alternative<MemoryBound>(launch->work)) continue;
      ++sum.kernels;
      sum.bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
    }
  }
  return sum;
}

Block gpt(const char* fusion) {
  return layer_of("ffn: 512, positions: 64", fmt::format("fusion: {}", fusion));
}

Block llama(const char* fusion) {
  return layer_of("ffn: 512, rms_norm: true, gated_mlp: true, bias: false, dropout: false",
                  fmt::format("attention: flash2, fusion: {}", fusion));
}

}  // namespace

TEST_CASE("a GPT layer runs 9 element-wise kernels forward, 17 unfused, 5 compiled") {
  constexpr double F = 2 * b * s * f;  // the MLP's inner activation
  // Norms 2 A each, the bias of qkv 2 x 3 A, softmax of the causal half 1.5 S, its dropout 2 S, the
  // context back 2 A, residuals 3 A each, GELU 2 F.
  const Traffic fused = traffic(gpt("fused"), true);
  CHECK(fused.kernels == 9);
  CHECK(fused.bytes == (10 + 6 + 2) * kActivation + 2 * kMask + 2 * F + 3.5 * kScores + kScoreMask);
  // Without fusion come biases of two rows (2 A each) and of the MLP (2 F); dropout (2 A each) and
  // sums (3 A each) by themselves; softmax in fp32, of which S is half: cast 3 S, mask 4 S, softmax
  // 4 S, cast 3 S.
  const Traffic none = traffic(gpt("none"), true);
  CHECK(none.kernels == 17);
  CHECK(none.bytes == (4 + 6 + 2 + 2 * (2 + 2 + 3)) * kActivation + 2 * kMask + 4 * F +
                          (3 + 4 + 4 + 3 + 2) * kScores + kScoreMask);
  // A norm 2 A, softmax and dropout 3 S, sum and norm 4 A, GELU 2 F, the last sum 3 A.
  const Traffic compiled = traffic(gpt("compiled"), true);
  CHECK(compiled.kernels == 5);
  CHECK(compiled.bytes == 9 * kActivation + 2 * kMask + 2 * F + 3 * kScores + kScoreMask);
}

TEST_CASE("backward a GPT layer runs 18 element-wise kernels, 22 unfused, 12 compiled") {
  constexpr double F = 2 * b * s * f;
  // Norms: 3 A, 2 A and the residual's 3 A each; dropout 2 A each; biases of the rows A each, of
  // qkv 3 A, of the MLP F; GELU 3 F; softmax 2 S, dropout 2 S; the scale of the gradients of
  // queries and keys 2 A each, those of qkv joined 6 A.
  const Traffic fused = traffic(gpt("fused"), false);
  CHECK(fused.kernels == 18);
  CHECK(fused.bytes == (2 * 8 + 2 * 2 + 2 + 3 + 2 * 2 + 6) * kActivation + 2 * kMask + 4 * F +
                           4 * kScores + kScoreMask);
  // Softmax: cast 3 S, softmax 6 S, mask a copy and 4 S each, cast 3 S.
  const Traffic none = traffic(gpt("none"), false);
  CHECK(none.kernels == 22);
  CHECK(none.bytes == fused.bytes + (3 + 6 + 2 * 4 + 3 - 2) * kScores);
  // The first norm adds the residual's gradient (4 A instead of 6), the second shares a kernel with
  // that and with dropout (5 A instead of 8); softmax and dropout 3 S; the scale is no kernel.
  const Traffic compiled = traffic(gpt("compiled"), false);
  CHECK(compiled.kernels == 12);
  CHECK(compiled.bytes == fused.bytes - (2 + 3 + 4) * kActivation - kScores);
}

TEST_CASE("Megatron-LM's softmax kernel takes multiples of 4 heads and sequences, of 4 queries") {
  const auto softmax = [](const char* heads, const char* batch, const char* training) {
    const OpGraph graph = build(
        scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 240, heads: {}, vocabulary: 1000, dropout: false}}
cluster: {{name: c, gpu: a100-80}}
training: {{{}sequence_length: 64, global_batch: {}, micro_batch: {}, {}}}
)",
                                heads, unfused_unless_stated(training), batch, batch, training)));
    return traffic(graph.blocks.at(1), false);
  };
  // Bytes an element: 4 in one kernel; or cast 6, softmax 12, copy and mask 8 each, cast 6.
  const auto scores = [](double heads, double batch) { return heads * batch * s * s; };
  const double more = 6 + 12 + 8 + 8 + 6 - 4;
  const Traffic ten = softmax("10", "1", "precision: fp16");
  const Traffic twenty = softmax("10", "2", "precision: fp16");
  CHECK(ten.kernels == twenty.kernels + 4);
  CHECK(2 * ten.bytes - twenty.bytes == doctest::Approx(2 * more * scores(10, 1)));
  CHECK(softmax("12", "1", "precision: fp16").kernels == twenty.kernels);
  // Transformer Engine calls one library for all shapes; a compiler makes kernels of its own.
  CHECK(softmax("10", "1", "transformer_impl: transformer_engine").kernels == ten.kernels);
  CHECK(softmax("10", "1", "fusion: compiled").kernels ==
        softmax("10", "2", "fusion: compiled").kernels);
}

TEST_CASE("where bias, dropout and residual are not fused each is a kernel, forward") {
  const auto of = [](const char* fusion, bool forward) {
    return traffic(
        layer_of("ffn: 512, positions: 64", fmt::format("bias_dropout_fusion: {}", fusion)),
        forward);
  };
  // Twice: the bias 2 A, dropout 2 A and its mask, the sum 3 A, instead of 3 A and the mask.
  CHECK(of("false", true).kernels == of("true", true).kernels + 2 * 2);
  CHECK(of("false", true).bytes == of("true", true).bytes + 2 * 4 * kActivation);
  CHECK(of("false", false).bytes == of("true", false).bytes);
}

TEST_CASE("ALiBi is copied to the scores before their product adds to it") {
  const auto of = [](const char* positions, const char* attention, bool forward) {
    return traffic(
        layer_of(fmt::format("ffn: 512, {}", positions), fmt::format("attention: {}", attention)),
        forward);
  };
  for (const char* kernel : {"unfused", "eager"}) {
    CHECK(of("alibi: true", kernel, true).kernels == of("positions: 64", kernel, true).kernels + 1);
    CHECK(of("alibi: true", kernel, true).bytes ==
          of("positions: 64", kernel, true).bytes + kScores);
    CHECK(of("alibi: true", kernel, false).bytes == of("positions: 64", kernel, false).bytes);
  }
  CHECK(of("alibi: true", "flash2", true).bytes == of("positions: 64", "flash2", true).bytes);
}

TEST_CASE("a Llama layer's norms, rotary positions and gate are chains where nothing is fused") {
  constexpr double F = 2 * b * s * f;
  constexpr double R = 2 * kActivation;  // queries and keys
  const Traffic fused = traffic(llama("fused"), true);
  CHECK(fused.kernels == 6);
  CHECK(fused.bytes == (2 * 2 + 2 * 3) * kActivation + 2 * R + 3 * F);
  // A norm's bytes an element, A being 2: cast 6, square 8, mean 4, scale 8, cast 6, weight 4; and
  // two kernels on one fp32 number a token. Rotary positions: 10 of each tensor in five kernels.
  // The gate: 2 F and 3 F.
  const Traffic none = traffic(llama("none"), true);
  CHECK(none.kernels == 2 * 8 + 2 * 5 + 2 + 2);
  CHECK(none.bytes == (2 * 18 + 2 * 3) * kActivation + 10 * R + 5 * F + 2 * 2 * 8 * b * s);
  const Traffic compiled = traffic(llama("compiled"), true);
  CHECK(compiled.kernels == 5);
  CHECK(compiled.bytes == (2 + 4 + 3) * kActivation + 2 * R + 3 * F);
}

TEST_CASE("compiled backward undoes rotary positions where it joins the gradients") {
  // Fused, that is a kernel of 2 R more; a norm and the residual's gradient are 6 A, not 4.
  const Traffic fused = traffic(llama("fused"), false);
  const Traffic compiled = traffic(llama("compiled"), false);
  CHECK(fused.kernels - compiled.kernels == 3);
  CHECK(fused.bytes - compiled.bytes == (2 + 2 + 2 * 2) * kActivation);
}

TEST_CASE(
    "what is not fused is kept: fp32 inputs of norms, softmax in fp32, the gate's activation") {
  const auto saved = [](const Block& block) { return block.saved(Recompute::none).bytes(); };
  // Softmax: 2 S in fp32 instead of S; what dropout makes of it is kept in any case.
  CHECK(saved(gpt("none")) - saved(gpt("fused")) == kScores);
  // Two norms keep 6 bytes an element instead of 2, the gate three tensors instead of two.
  CHECK(saved(llama("none")) - saved(llama("fused")) == 2 * 2 * kActivation + 2 * b * s * f);
  CHECK(saved(gpt("compiled")) == saved(gpt("fused")));
  CHECK(saved(llama("compiled")) == saved(llama("fused")));
}

TEST_CASE("XLA's kernels end at each reduction, behind which they read their inputs again") {
  constexpr double F = 2 * b * s * f;
  // Norms: variance A and result 2 A, the mean being the sum's; queries, keys and values to the
  // front 6 A, the context back 2 A; softmax: maximum S, sum S, result 2 S and what dropout makes
  // of it; sums 3 A each, GELU 2 F.
  const Traffic forward = traffic(gpt("xla"), true);
  CHECK(forward.kernels == 14);
  CHECK(forward.bytes == (2 * 3 + 6 + 2 + 2 * 3) * kActivation + 2 * kMask + 2 * F +
                             (1 + 1 + 2 + 1) * kScores + kScoreMask);
  // Norms: two reductions of 2 A each, their gradient 4 A, the weights' 2 A; dropout 2 A each;
  // biases as ever; the context's gradient to the front 2 A, those of qkv joined 6 A; softmax:
  // the sum 2 S, the gradient 3 S.
  const Traffic backward = traffic(gpt("xla"), false);
  CHECK(backward.kernels == 19);
  CHECK(backward.bytes == (2 * 10 + 2 * 2 + 2 + 3 + 2 + 6) * kActivation + 2 * kMask + 4 * F +
                              5 * kScores + 2 * kScoreMask);
}

TEST_CASE("norms and softmax of Transformer Engine are its own kernels under XLA") {
  const auto bytes = [](const char* training, bool forward) {
    return traffic(layer_of("ffn: 512, positions: 64", training), forward).bytes;
  };
  const char* library = "fusion: xla, transformer_impl: transformer_engine";
  // As fused, with the heads' copies: 8 A forward, of which Megatron-LM has the context's 2 A; 2 A
  // backward, where that has the scale's 4 A.
  const char* fused = "fusion: fused, transformer_impl: transformer_engine";
  CHECK(bytes(library, true) == bytes(fused, true) + 6 * kActivation);
  CHECK(bytes(library, false) == bytes(fused, false) - 2 * kActivation);
  // A library's attention takes no bias of the product before it: 2 x 3 A.
  CHECK(bytes("fusion: xla, transformer_impl: transformer_engine, attention: flash2", true) ==
        bytes("fusion: fused, attention: flash2", true) + 6 * kActivation);
}

TEST_CASE("a loop over layers copies what products and a fused attention leave for backward") {
  constexpr double F = 2 * b * s * f;
  const auto more = [](const char* recompute, const char* kernel, bool forward) {
    const auto bytes = [&](const char* scans) {
      return traffic(layer_of("ffn: 512, positions: 64",
                              fmt::format("fusion: xla, recompute: {}, attention: {}, "
                                          "scan_layers: {}",
                                          recompute, kernel, scans)),
                     forward)
          .bytes;
    };
    return bytes("true") - bytes("false");
  };
  // Queries, keys and values, the context, the projection, the MLP's inner activation; not the
  // layer's last product. Each is read and written.
  for (const bool forward : {true, false}) {
    CHECK(more("none", "flash2", forward) == 2 * (5 * kActivation + F));
    CHECK(more("none", "unfused", forward) == 2 * (4 * kActivation + F));
    CHECK(more("selective", "flash2", forward) == 2 * (4 * kActivation + F));
    CHECK(more("full", "flash2", forward) == 0);
    // A product that runs again is not kept: the MLP's, then the projection too.
    CHECK(more("{kind: selective, modules: [core_attention, mlp_up]}", "flash2", forward) ==
          2 * 4 * kActivation);
    CHECK(more("{kind: selective, modules: [attention, mlp_up]}", "flash2", forward) ==
          2 * 3 * kActivation);
  }
}

TEST_CASE("fp32 needs no casts") {
  const auto has_cast = [](const char* precision) {
    const Block block =
        layer_of("rms_norm: true", fmt::format("fusion: none, precision: {}", precision));
    for (const Op* op : block.order()) {
      for (const Item& item : op->forward) {
        const auto* launch = std::get_if<Launch>(&item);
        if (launch != nullptr && launch->name.find("cast") != std::string::npos) return true;
      }
    }
    return false;
  };
  CHECK(has_cast("bf16"));
  CHECK_FALSE(has_cast("fp32"));
}

TEST_CASE("the matrix products are the same however the rest is fused") {
  const auto flops = [](const Block& block) {
    double sum = 0;
    for (const Op* op : block.order()) sum += op->flops.flops();
    return sum;
  };
  for (const char* fusion : {"none", "compiled", "xla"}) {
    CHECK(flops(gpt(fusion)) == flops(gpt("fused")));
    CHECK(gpt(fusion).parameters() == gpt("fused").parameters());
    CHECK(gpt(fusion).kept_for_weights() == gpt("fused").kept_for_weights());
  }
}

TEST_CASE("a whole vocabulary's loss reads the logits once where it is compiled") {
  const auto loss = [](const char* fusion, int tensor) {
    const OpGraph graph = build(scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1024}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {0}, intra_node: nvlink3}}
training: {{sequence_length: 64, global_batch: 2, micro_batch: 2, fusion: {1}}}
parallelism: {{tensor: {0}}}
)",
                                                        tensor, fusion)));
    Block head;
    head.dag = graph.blocks.back().dag;
    const Op op = *head.order().back();
    return std::get<MemoryBound>(std::get<Launch>(op.forward.front()).work).bytes.bytes();
  };
  CHECK(loss("compiled", 1) == 2 * b * s * 1024);
  CHECK(loss("fused", 1) == 38 * b * s * 1024);
  CHECK(loss("xla", 1) == 3 * 2 * b * s * 1024);   // maximum, sum, labels
  CHECK(loss("compiled", 2) == 38 * b * s * 512);  // a split one is a chain with collectives
}

TEST_CASE("kernels that load 16-bit tensors one element at a time are slower, others are not") {
  const auto slower = [](const std::string& training) {
    std::map<MemoryRate, std::set<double>> factors;
    const Block layer = layer_of("", training);
    for (const Op* op : layer.order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          const auto* kernel = launch ? std::get_if<MemoryBound>(&launch->work) : nullptr;
          if (kernel != nullptr) factors[kernel->rate].insert(kernel->slower);
        }
      }
    }
    return factors;
  };
  const auto fused = slower("precision: fp16, fusion: pytorch-2020");
  // Norms, and gradients of biases, which are not among them.
  CHECK(fused.at(MemoryRate::norm) == std::set{1.0, scalar_load_factor(MovingKernels::norm)});
  CHECK(fused.at(MemoryRate::dropout) == std::set{scalar_load_factor(MovingKernels::dropout)});
  CHECK(fused.at(MemoryRate::elementwise) == std::set{1.0});
  CHECK(fused.at(MemoryRate::softmax) == std::set{1.0});
  for (const auto& [rate, factors] : slower("precision: fp32, fusion: pytorch-2020"))
    CHECK(factors == std::set{1.0});
  for (const auto& [rate, factors] : slower("precision: fp16, fusion: compiled"))
    CHECK(factors == std::set{1.0});
}
