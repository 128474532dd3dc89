// Pipeline bubbles of equal stages whose transfers cost nothing.
//
// GPipe and 1F1B (Huang et al. 2019; Narayanan et al. 2021, section 2.2.1): each of p stages works
// m (F + B) a step. The first micro-batch reaches the last stage after (p-1) F, and the last
// gradient reaches the first stage (p-1) B after it left the last, so that the step takes
// (m + p - 1)(F + B) and each stage idles (p-1)(F + B) of it: a fraction (p-1) / (m + p - 1).
//
// Interleaved (section 2.2.2): a stage holds v chunks of f = F/v and b = B/v. Filling and draining
// now pass chunks: each stage idles (p-1)(f + b) = (p-1)(F + B) / v, which is (p-1) / (v m) of the
// ideal time m (F + B). This needs transfers beside compute (overlap_p2p); the layers are built by
// hand, for the embedding and the loss of a real model would make the outer stages longer.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/timeline/partition.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr Seconds kForward = 3_ms, kBackward = 7_ms;  // passes of one layer
constexpr double kBoth = 10e-3;

Experiment pipeline(const std::string& schedule, int p, int m, int v, bool overlap_p2p) {
  return {on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {1}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {2}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {1}, schedule: {3}, chunks: {4}, overlap_p2p: {5}}}}}
host: {{launch: 0 us}}
run: {{steps: 2, warmup: 1}}
)",
                               p * v, p, m, schedule, v, overlap_p2p)),
          paper_graph(paper_layer(kForward, kBackward), p * v)};
}

double of(const CauseSeconds& causes, Cause cause) {
  return causes[static_cast<std::size_t>(cause)];
}

/// Every stage works and idles that long in the last step, and does nothing else.
void check_stages(const Timeline& timeline, double work, double idle) {
  const std::size_t last = timeline.step_ends.size() - 1;
  for (const RankTimeline& rank : timeline.ranks) {
    CAPTURE(rank.stage);
    const auto causes =
        partition(timeline, rank, timeline.step_start(last), timeline.step_ends[last]);
    CHECK(of(causes, Cause::forward) + of(causes, Cause::backward) == nine_digits(work));
    CHECK(of(causes, Cause::pipeline_bubble) == nine_digits(idle));
  }
}

}  // namespace

TEST_CASE("GPipe and 1F1B idle (p-1) / (m + p - 1) of the step on every stage") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const int p : {2, 3, 4, 8}) {
      for (const int m : {1, 2, 3, 4, 8, 32}) {
        for (const bool overlap : {false, true}) {
          CAPTURE(schedule);
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(overlap);
          const Experiment experiment = pipeline(schedule, p, m, 1, overlap);
          const Simulation simulation = experiment.run();
          const Metrics metrics = measure(experiment.scenario, experiment.graph, simulation);
          CHECK(metrics.step_time.seconds() == nine_digits((m + p - 1) * kBoth));
          CHECK(metrics.bubble_fraction == nine_digits((p - 1.0) / (m + p - 1)));
          check_stages(simulation.timeline, m * kBoth, (p - 1) * kBoth);
        }
      }
    }
  }
}

TEST_CASE("an interleaved pipeline idles (p-1) / (v m) of the ideal time on every stage") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int v : {2, 3, 4}) {
      for (const int m : {p, 2 * p, 5 * p}) {
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        const Experiment experiment = pipeline("interleaved", p, m, v, true);
        const Simulation simulation = experiment.run();
        const Metrics metrics = measure(experiment.scenario, experiment.graph, simulation);
        const double ideal = m * v * kBoth;
        const double bubble = metrics.step_time.seconds() - ideal;
        CHECK(bubble / ideal == nine_digits((p - 1.0) / (v * m)));
        check_stages(simulation.timeline, ideal, bubble);
      }
    }
  }
}

TEST_CASE("without a pipeline there is no bubble") {
  const Metrics m = pipeline("1f1b", 1, 4, 1, false).metrics();
  CHECK(m.step_time.seconds() == nine_digits(4 * kBoth));
  CHECK(m.bubble_fraction == 0);
}

// Stages of unequal length, of which one, the k-th, is the longest in both directions. By GPipe the
// first micro-batch meets every stage, and the other m - 1 follow as fast as the longest one lets
// them through, T = sum (f_i + b_i) + (m-1) (f_k + b_k). By 1F1B the longest stage begins when the
// first micro-batch has passed those before it, and ends when the last one has to pass them again.
// In between it waits for the first micro-batch to come back, as long as that takes more than the
// forward passes that it runs meanwhile, p-1-k of them or the m-1 that there are:
//   T = sum_{i<k} (f_i + b_i) + m (f_k + b_k) + max(0, sum_{i>k} (f_i + b_i) - min(p-1-k, m-1) f_k)
// A stage idles what of the step it does not work.
TEST_CASE("stages of unequal length wait for the longest of them") {
  const std::vector<int> dealt{1, 3, 0, 2};
  const int p = 4, k = 1, all = 6, longest = 3, before = 1, behind = 2;
  for (const bool gpipe : {true, false}) {
    for (const int m : {1, 2, 4, 5, 16}) {
      CAPTURE(gpipe);
      CAPTURE(m);
      const Experiment e(on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 6, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 4, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: 4, schedule: {}, layers: [1, 3, 0, 2], overlap_p2p: true}}}}
host: {{launch: 0 us}}
run: {{steps: 2, warmup: 1}}
)",
                                              m, gpipe ? "gpipe" : "1f1b")),
                         paper_graph(paper_layer(kForward, kBackward), all));
      const double meanwhile = std::min(p - 1 - k, m - 1) * longest * kForward.seconds();
      const double step =
          gpipe ? (all + (m - 1) * longest) * kBoth
                : (before + m * longest) * kBoth + std::max(0.0, behind * kBoth - meanwhile);
      CHECK(e.step_seconds() == nine_digits(step));
      const Timeline timeline = e.run().timeline;
      const std::size_t last = timeline.step_ends.size() - 1;
      CHECK(timeline.ranks.size() == p);
      for (const RankTimeline& rank : timeline.ranks) {
        CAPTURE(rank.stage);
        const auto causes =
            partition(timeline, rank, timeline.step_start(last), timeline.step_ends[last]);
        const double work = m * dealt[static_cast<std::size_t>(rank.stage)] * kBoth;
        CHECK(of(causes, Cause::forward) + of(causes, Cause::backward) ==
              doctest::Approx(work).epsilon(1e-9));
        CHECK(of(causes, Cause::pipeline_bubble) == doctest::Approx(step - work).epsilon(1e-9));
      }
    }
  }
}
