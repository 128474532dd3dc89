// Mixers of Mamba-2: their parameters are those of the published models, and their products and
// scans take the FLOPs of Megatron-LM's formula.
//
// With h the width, d = heads x P the mixer's, g groups of N numbers: a token has
//   2 h (2 d + 2 g N + heads) + 7 d N + 2 d h
// forward, and twice that backward.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

std::string hybrid(const std::string& pattern, const std::string& parallelism = "") {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: {}, hidden: 1024, heads: 8, ffn: 4096, vocabulary: 32000, "
      "gated_mlp: false, rms_norm: true, bias: false, tied_embeddings: false, dropout: false, "
      "hybrid: {{pattern: \"{}\", heads: 32, head_dim: 64, groups: 8, state: 128}}}}\n"
      "training: {{sequence_length: 2048, global_batch: 8, attention: flash3, "
      "vocabulary_multiple: 1}}\nparallelism: {{{}}}\n",
      pattern.size(), pattern, parallelism);
}

double flops(const std::string& pattern, const std::string& parallelism = "") {
  return build(scenario_of(hybrid(pattern, parallelism))).model_flops.flops();
}

}  // namespace

TEST_CASE("the parameters of hybrid models are those that their authors count") {
  const Library library{{source_folder()}};
  // What the released weights have, but for the second's 23 biases of 128 experts.
  CHECK(parameter_count(load_model("nemotron-h-8b", library)) == 8'100'852'736);
  CHECK(parameter_count(load_model("nemotron-3-nano-30b-a3b", library)) ==
        31'577'940'288 - 23 * 128);
}

TEST_CASE("a mixer's FLOPs are those of its linear layers and of the scan") {
  const double h = 1024, d = 32 * 64, g = 8, N = 128, heads = 32, tokens = 8 * 2048;
  const double mixer = 2 * h * (2 * d + 2 * g * N + heads) + 7 * d * N + 2 * d * h;
  const double mlp = 2 * 2 * h * 4096;
  CHECK(flops("MM-") - flops("M-") == nine_digits(3 * tokens * mixer));
  CHECK(flops("M--") - flops("M-") == nine_digits(3 * tokens * mlp));
  // However it is split.
  CHECK(flops("M-M*", "tensor: 4, sequence: true") == nine_digits(flops("M-M*")));
  CHECK(flops("M-M*", "pipeline: {stages: 2}") == nine_digits(flops("M-M*")));
}

TEST_CASE("layers of a pattern are dealt to stages in their order") {
  const Experiment e(hybrid("M-M*M-M-", "pipeline: {stages: 2}"));
  CHECK(e.step_seconds() > 0);
  double sum = 0;
  for (const std::size_t block : e.graph.chain) sum += e.graph.blocks[block].parameters();
  CHECK(sum == nine_digits(e.graph.total_parameters));
}

// A depth adds its parts, a projection of two vectors and the head: 2 h^2 and V h.
TEST_CASE("a depth of multi-token prediction has the parts of its own pattern") {
  const auto model = [](const std::string& more) {
    std::string text = hybrid("M-M*");
    text.replace(text.find("heads: 32"), 9, more + "heads: 32");
    return text;
  };
  const double h = 1024, V = 32000, tokens = 8 * 2048;
  const auto with = [&](const std::string& parts, int depths) {
    std::string text = model(fmt::format("mtp_pattern: \"{}\", ", parts));
    text.replace(text.find("layers: 4"), 9, fmt::format("layers: 4, mtp_layers: {}", depths));
    return scenario_of(text);
  };
  const OpGraph none = build(scenario_of(model(""))), one = build(with("*-", 1));
  const OpGraph longer = build(scenario_of(hybrid("M-M**-")));
  const double layer = longer.model_flops.flops() - flops("M-M*");
  CHECK(one.model_flops.flops() - none.model_flops.flops() ==
        nine_digits(layer + 3 * tokens * 2 * (2 * h * h + V * h)));
  // Its parts and their norms, the projection and three norms more.
  CHECK(one.total_parameters - none.total_parameters ==
        nine_digits(longer.total_parameters - none.total_parameters + 2 * h * h + 3 * h));
  const OpGraph two = build(with("*-", 2));
  CHECK(two.total_parameters - one.total_parameters ==
        nine_digits(one.total_parameters - none.total_parameters));
  for (const OpGraph* graph : {&one, &two}) {
    const int depths = graph == &one ? 1 : 2;
    CHECK(parameter_count(with("*-", depths).model) == nine_digits(graph->total_parameters));
  }
}

TEST_CASE("a window narrows the attention of those layers that have any, counted in layers") {
  const auto scores = [](const std::string& window) {
    std::string text = hybrid("M*M*");
    if (!window.empty()) text.replace(text.find("hybrid:"), 7, window + ", hybrid:");
    return build(scenario_of(text)).model_flops.flops();
  };
  const double all = scores("");
  // Two layers of attention: both narrow, or the second, which is the last of four, wide.
  const double both = all - scores("window: {tokens: 256}");
  CHECK(both > 0);
  CHECK(all - scores("window: {tokens: 256, full_every: 4}") == nine_digits(both / 2));
  CHECK(all - scores("window: {tokens: 256, full_every: 2}") == 0);
}

// An adapter of rank r has r parameters for each input and each output of its layer.
TEST_CASE("adapters stand beside the linear layers around a mixer") {
  const double h = 1024, d = 32 * 64, g = 8, N = 128, heads = 32, r = 8;
  const auto trained = [](const std::string& pattern, const std::string& targets,
                          const std::string& parallelism = "") {
    std::string text = hybrid(pattern, parallelism);
    text.replace(text.find("vocabulary_multiple"), 0,
                 fmt::format("lora: {{rank: 8, target_modules: [{}]}}, ", targets));
    return Experiment(text);
  };
  const auto parameters = [](const Experiment& e) {
    double sum = 0;
    for (const std::size_t block : e.graph.chain) sum += e.graph.blocks[block].parameters();
    return sum;
  };
  const double in = r * (h + 2 * d + 2 * g * N + heads), out = r * (d + h);
  CHECK(parameters(trained("M-M*", "in_proj")) == nine_digits(2 * in));
  CHECK(parameters(trained("M-M*", "in_proj, out_proj")) == nine_digits(2 * (in + out)));
  CHECK(trained("M-M*", "in_proj, out_proj", "tensor: 4, sequence: true").step_seconds() > 0);
  // Layers before the first adapter have no backward pass.
  const auto backward = [](const Experiment& e) {
    std::vector<bool> has;
    for (const std::size_t block : e.graph.chain) {
      const auto& ops = e.graph.blocks[block].dag.ops;
      has.push_back(std::ranges::any_of(ops, [](const Op& op) { return !op.backward.empty(); }));
    }
    return has;
  };
  // The embedding, four layers and the head.
  CHECK(backward(trained("M-M*", "linear_fc1")) ==
        std::vector<bool>{false, false, true, true, true, true});
}
