// Published times of Megatron-LM on A100: Korthikanti et al. 2022, "Reducing Activation
// Recomputation in Large Transformer Models" (arXiv 2205.05198), tables 4 and 5.
//
// Table 5 gives the iteration time of four GPT models on DGX A100 nodes, fp16, sequence 2048,
// tensor parallel 8: with full recompute, and with sequence parallelism and selective recompute.
// Table 4 gives forward and backward of one layer of the 22B model, micro-batch 4; here that is the
// difference of a model of three layers and one of two, on a host that launches in no time.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Model5 {
  const char* model;
  int stages, gpus, chunks, global_batch, micro_batch;
  double full_recompute, selective_and_sequence;  // seconds an iteration
};

// Models and splits: table 3; times: table 5.
constexpr Model5 kTable5[] = {{"megatron-22b", 1, 8, 1, 4, 4, 1.42, 1.10},
                              {"megatron-175b", 8, 64, 3, 64, 1, 18.13, 13.75},
                              {"megatron-530b", 35, 280, 3, 280, 1, 49.05, 37.83},
                              {"megatron-1t", 64, 512, 1, 512, 1, 94.42, 71.49}};

double iteration(const Model5& row, const char* recompute, bool sequence) {
  return Experiment(fmt::format(R"(
model: {}
cluster: {{base: dgx-a100-80, nodes: {}}}
training: {{sequence_length: 2048, global_batch: {}, micro_batch: {}, precision: fp16, recompute: {}}}
parallelism:
  tensor: 8
  sequence: {}
  pipeline: {{stages: {}, schedule: {}, chunks: {}, overlap_p2p: false}}
run: {{steps: 1, warmup: 0}}
)",
                                row.model, row.gpus / 8, row.global_batch, row.micro_batch,
                                recompute, sequence, row.stages,
                                row.chunks > 1 ? "interleaved" : "1f1b", row.chunks))
      .step_seconds();
}

struct Passes {
  double forward = 0, backward = 0;
};

/// Forward ends where the backward pass of the loss begins.
Passes passes(int layers, const char* recompute, bool sequence) {
  const Experiment experiment(fmt::format(R"(
model: {{base: megatron-22b, layers: {}}}
cluster: dgx-a100-80
training: {{sequence_length: 2048, global_batch: 4, micro_batch: 4, precision: fp16, recompute: {}}}
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

TEST_CASE("iteration times of table 5 are met within 8 %, and within 4.5 % on average") {
  double sum = 0;
  int rows = 0;
  const auto compare = [&](const Model5& row, const char* recompute, double measured) {
    const double simulated = iteration(row, recompute, std::string(recompute) == "selective");
    const double error = simulated / measured - 1;
    CAPTURE(row.model);
    CAPTURE(recompute);
    CAPTURE(simulated);
    CAPTURE(measured);
    CHECK(std::abs(error) <= 0.08);
    sum += std::abs(error);
    ++rows;
  };
  for (const Model5& row : kTable5) {
    compare(row, "full", row.full_recompute);
    compare(row, "selective", row.selective_and_sequence);
  }
  MESSAGE("mean error over " << rows << " rows: " << 100 * sum / rows << " %");
  CHECK(sum / rows <= 0.045);
}

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
