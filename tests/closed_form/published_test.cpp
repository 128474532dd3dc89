// Published times of Megatron-LM on A100: Korthikanti et al. 2022, "Reducing Activation
// Recomputation in Large Transformer Models" (arXiv 2205.05198), table 4. Table 5 is the suite
// validate/suites/korthikanti.yaml.
//
// Table 4 gives forward and backward of one layer of the 22B model, micro-batch 4; here that is the
// difference of a model of three layers and one of two, on a host that launches in no time.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Passes {
  double forward = 0, backward = 0;
};

/// Forward ends where the backward pass of the loss begins.
Passes passes(int layers, const char* recompute, bool sequence) {
  const Experiment experiment(fmt::format(R"(
model: {{base: megatron-22b, layers: {}}}
cluster: dgx-a100-80
training: {{attention: unfused, sequence_length: 2048, global_batch: 4, micro_batch: 4, precision: fp16, recompute: {}}}
parallelism: {{tensor: 8, sequence: {}}}
host: {{launch: 0 us}}
run: {{steps: 1, warmup: 0}}
)",
                                          layers, recompute, sequence));
  const Timeline timeline = experiment.run({.kernels = true}).timeline;
  const RankTimeline& rank = timeline.ranks.at(0);
  double turn = 0;
  double end = 0;
  for (const Span& span : rank.spans) {
    if (rank.rows[span.row].kind != RowKind::compute || span.micro_batch < 0) continue;
    if (timeline.names[span.name] == "cross entropy backward") turn = span.start;
    end = span.end;
  }
  return {turn, end - turn};
}

Passes one_layer(const char* recompute, bool sequence) {
  const Passes three = passes(3, recompute, sequence);
  const Passes two = passes(2, recompute, sequence);
  return {three.forward - two.forward, three.backward - two.backward};
}

}  // namespace

TEST_CASE("the passes of one layer in table 4 are met within 5 %") {
  struct Row {
    const char* recompute;
    bool sequence;
    double forward, backward;  // milliseconds; backward with what it recomputes
  };
  for (const Row& row :
       {Row{"none", false, 7.7, 11.9}, Row{"none", true, 7.2, 11.8}, Row{"full", false, 7.7, 19.5},
        Row{"selective", false, 7.7, 13.2}, Row{"selective", true, 7.2, 13.1}}) {
    CAPTURE(row.recompute);
    CAPTURE(row.sequence);
    const Passes layer = one_layer(row.recompute, row.sequence);
    CHECK(layer.forward * 1e3 == doctest::Approx(row.forward).epsilon(0.05).scale(0));
    CHECK(layer.backward * 1e3 == doctest::Approx(row.backward).epsilon(0.05).scale(0));
  }
}
