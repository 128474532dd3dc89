// The critical path of steps that can be drawn.
#include "sim/timeline/critical_path.hpp"

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Piece {
  int stage;
  Cause cause;
  double seconds;
};

/// The path with neighbours of one stage and cause joined.
std::vector<Piece> pieces_of(const Timeline& timeline, std::size_t step) {
  std::vector<Piece> pieces;
  for (const PathSegment& segment : critical_path(timeline, step)) {
    const int stage = timeline.ranks[segment.rank].stage;
    const bool goes_on =
        !pieces.empty() && pieces.back().stage == stage && pieces.back().cause == segment.cause;
    if (!goes_on) pieces.push_back({stage, segment.cause, 0});
    pieces.back().seconds += segment.seconds;
  }
  return pieces;
}

void check(const std::vector<Piece>& pieces, const std::vector<Piece>& expected) {
  REQUIRE(pieces.size() == expected.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CAPTURE(i);
    CHECK(pieces[i].stage == expected[i].stage);
    CHECK(std::string(name_of(pieces[i].cause)) == name_of(expected[i].cause));
    CHECK(pieces[i].seconds == nine_digits(expected[i].seconds));
  }
}

/// Layers of 3 ms forward and 7 ms backward.
Experiment pipeline(int stages, int micro_batches, const std::string& layers) {
  const int count = layers == "[2, 1]" ? 3 : stages;
  return {on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {1}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {2}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {1}, layers: {3}}}}}
host: {{launch: 0 us}}
run: {{steps: 2, warmup: 1}}
)",
                               count, stages, micro_batches, layers)),
          paper_graph(paper_layer(3_ms, 7_ms), count)};
}

}  // namespace

TEST_CASE(
    "in a pipeline of two stages the path goes down with the first micro-batch and comes "
    "back with the last") {
  // 1F1B:     0   3   6       13  16      20  23      30 ms
  //   stage 0 F0  F1  .       B0          .   B1
  //   stage 1 .   F0  B0      F1  B1          .
  const Simulation run = pipeline(2, 2, "[1, 1]").run();
  for (const std::size_t step : {0, 1, 2}) {
    check(pieces_of(run.timeline, step), {{0, Cause::forward, 3e-3},
                                          {1, Cause::forward, 3e-3},
                                          {1, Cause::backward, 7e-3},
                                          {1, Cause::forward, 3e-3},
                                          {1, Cause::backward, 7e-3},
                                          {0, Cause::backward, 7e-3}});
  }
}

TEST_CASE("a stage of twice the layers has all of the path but the other one's first micro-batch") {
  // Stage 0 works 6 ms forward and 14 ms backward, stage 1 half of it:
  //   stage 0 F0 0-6, F1 6-12, B0 16-30, B1 30-44;  stage 1 F0 6-9, B0 9-16, F1 16-19, B1 19-26
  const Simulation run = pipeline(2, 2, "[2, 1]").run();
  check(pieces_of(run.timeline, 1), {{0, Cause::forward, 6e-3},
                                     {1, Cause::forward, 3e-3},
                                     {1, Cause::backward, 7e-3},
                                     {0, Cause::backward, 28e-3}});
}

TEST_CASE("behind a slow loader the path is the loader's") {
  // Two workers of 1 s a sample deliver 2 a second; each rank takes 8 samples a step.
  const Experiment experiment(R"(
model: {name: m, layers: 2, hidden: 256, heads: 4, vocabulary: 512}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 64, global_batch: 64, micro_batch: 1}
data: {sample_size: 1 MB, decode: 1 s, workers: 2}
)");
  const Simulation run = experiment.run();
  const auto causes = causes_of(critical_path(run.timeline, run.timeline.step_ends.size() - 1));
  CHECK(causes[static_cast<std::size_t>(Cause::batch_wait)] == doctest::Approx(4).epsilon(0.01));
}
