// Multi-token prediction: a depth has the parameters and products of a layer, of a projection of two
// vectors to one, and of the head once more, wherever it stands.
//
// With h the width, V the vocabulary, L a layer's parameters in products and s the sequence, a depth
// adds 6 s (L + 2 h^2 + V h) FLOPs a sequence, and attention's 12 s^2 h.
#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double h = 512, V = 32000, s = 1024, ffn = 2048;
constexpr double layer = 4 * h * h + 3 * h * ffn;

std::string decoder(int layers, int depths, const std::string& parallelism = "") {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: 4, "
      "intra_node: {{bandwidth: 200 GB/s, latency: 3 us}}}}\n"
      "model: {{name: m, layers: {}, hidden: 512, heads: 8, ffn: 2048, vocabulary: 32000, "
      "gated_mlp: true, rms_norm: true, bias: false, tied_embeddings: false, dropout: false, "
      "mtp_layers: {}}}\n"
      "training: {{sequence_length: 1024, global_batch: 8, attention: flash2, "
      "vocabulary_multiple: 1}}\nparallelism: {{{}}}\n",
      layers, depths, parallelism);
}

double parameters_of(const Scenario& scenario, const OpGraph& graph) {
  double sum = 0;
  for (int stage = 0; stage < scenario.parallelism.pipeline.stages; ++stage)
    sum += stage_parameters(scenario, graph, stage).total();
  return sum;
}

}  // namespace

TEST_CASE("a depth of multi-token prediction costs a layer, a projection and the head's logits") {
  const Experiment none(decoder(4, 0)), one(decoder(4, 1)), two(decoder(4, 2));
  const double flops = 8 * (6 * s * (layer + 2 * h * h + V * h) + 12 * s * s * h);
  CHECK(one.graph.model_flops.flops() - none.graph.model_flops.flops() == nine_digits(flops));
  CHECK(two.graph.model_flops.flops() - one.graph.model_flops.flops() == nine_digits(flops));
  // Five norms: of the layer, of both vectors and of the output.
  const double parameters = layer + 2 * h * h + 5 * h;
  CHECK(one.graph.total_parameters - none.graph.total_parameters == nine_digits(parameters));
  CHECK(parameters_of(one.scenario, one.graph) == nine_digits(one.graph.total_parameters));
}

TEST_CASE("on a last stage a depth has a copy of the embedding, and the model's layers are dealt") {
  const Experiment whole(decoder(4, 1));
  const Experiment stages(decoder(4, 1, "pipeline: {stages: 2}"));
  CHECK(parameters_of(stages.scenario, stages.graph) ==
        nine_digits(whole.graph.total_parameters + V * h));
  // Its last part has the head and what predicts further tokens, and no layer.
  const Experiment apart(decoder(3, 1, "pipeline: {stages: 4, layers: [1, 1, 1, 0]}"));
  const StageParameters last = stage_parameters(apart.scenario, apart.graph, 3);
  CHECK(last.total() == nine_digits(layer + 2 * h * h + 5 * h + V * h + V * h + h));
  CHECK(apart.step_seconds() > 0);
  // Both ends on one stage share the table.
  const Experiment both(decoder(4, 1, "pipeline: {stages: 2, schedule: dualpipe, chunks: 2}"));
  CHECK(stage_parameters(both.scenario, both.graph, 0).total() ==
        nine_digits(whole.graph.total_parameters));
}

TEST_CASE("a stage without layers passes on what it gets") {
  const Experiment e(decoder(2, 0, "pipeline: {stages: 4, layers: [1, 0, 1, 0]}"));
  const Experiment two(decoder(2, 0, "pipeline: {stages: 2}"));
  CHECK(e.step_seconds() > 0);
  CHECK(e.graph.model_flops.flops() == nine_digits(two.graph.model_flops.flops()));
}
