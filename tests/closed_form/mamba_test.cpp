// Mixers of Mamba-2: their parameters are those of the published models, and their products and
// scans take the FLOPs of Megatron-LM's formula.
//
// With h the width, d = heads x P the mixer's, g groups of N numbers: a token has
//   2 h (2 d + 2 g N + heads) + 7 d N + 2 d h
// forward, and twice that backward.
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
