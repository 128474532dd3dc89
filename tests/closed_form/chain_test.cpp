// Chains of kernels in (max, +) algebra (Baccelli, Cohen, Olsder, Quadrat 1992, chapter 2).
//
// n kernels of duration d, the host launching one every l, all idle at 0. Kernel i is launched at
// i l and ends at e(i) = max(i l, e(i-1)) + d. With d >= l the GPU is the slower: after the first
// launch it never idles, and e(n) = l + n d. With l > d every kernel waits for its launch, and
// e(n) = n l + d. Contracted, the chain is max(host + launched, free + compute), with launched =
// e(n) from idle and compute = n d: the same as kernel by kernel.
#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kLaunches[] = {0, 1e-6, 5e-6, 10e-6, 40e-6};

/// A GPU whose only layer is a chain of n kernels of 10 us forward, and n more backward.
Experiment kernels(int n, double launch) {
  Scenario scenario = on_paper(R"(
model: {name: m, kind: mlp, layers: 1, width: 1}
cluster: {name: c, gpu: a100-80}
training: {global_batch: 1, precision: fp16, gradient_clipping: false}
run: {steps: 1, warmup: 0}
)");
  scenario.host.launch = Seconds{launch};
  Block layer = paper_layer(Seconds{0}, Seconds{0});
  for (int i = 0; i < n; ++i) {
    layer.dag[0].forward.emplace_back(lasting(10_us));
    layer.dag[0].backward.emplace_back(lasting(10_us));
  }
  return {std::move(scenario), paper_graph(std::move(layer), 1)};
}

double closed_form(int n, double l, double d) { return d >= l ? l + n * d : n * l + d; }

std::vector<const Span*> compute_spans(const RankTimeline& rank) {
  std::vector<const Span*> spans;
  for (const Span& span : rank.spans) {
    if (rank.rows[span.row].kind == RowKind::compute) spans.push_back(&span);
  }
  return spans;
}

struct Ends {
  double forward = 0, backward = 0;
};

Ends ends_of(const Experiment& experiment, const SimulateOptions& options) {
  const Simulation simulation = experiment.run(options);
  Ends ends;
  for (const Span* span : compute_spans(simulation.timeline.ranks.at(0))) {
    if (span->cause == Cause::forward) ends.forward = span->end;
    if (span->cause == Cause::backward) ends.backward = span->end;
  }
  return ends;
}

double sum(const CauseSeconds& causes) {
  double total = 0;
  for (const double seconds : causes) total += seconds;
  return total;
}

/// A small GPT whose kernels are short enough for launches to matter.
const std::string kGpt = R"(
model: {name: m, layers: 3, hidden: 512, heads: 8, vocabulary: 8192}
cluster: {name: c, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}
training: {sequence_length: 512, global_batch: 8, micro_batch: 2, precision: bf16, recompute: selective}
parallelism: {tensor: 2}
host: {launch: 12 us}
)";

}  // namespace

TEST_CASE("n kernels from idle end at l + n d, or at n l + d when launches are the slower") {
  for (const double l : kLaunches) {
    for (const int n : {1, 2, 10, 1000}) {
      CAPTURE(l);
      CAPTURE(n);
      Chain chain{.kernels = std::vector<Kernel>(static_cast<std::size_t>(n), {.seconds = 10e-6}),
                  .launch_each = l};
      contract(chain);
      CHECK(chain.launched == nine_digits(closed_form(n, l, 10e-6)));
      CHECK(chain.compute == nine_digits(n * 10e-6));
      CHECK(chain.launch == doctest::Approx(n * l));
      CHECK(sum(chain.mix) == nine_digits(chain.compute));
    }
  }
}

TEST_CASE("simulated chains end where the closed form says, contracted or kernel by kernel") {
  for (const bool expanded : {false, true}) {
    for (const double l : kLaunches) {
      for (const int n : {1, 2, 10, 1000}) {
        CAPTURE(expanded);
        CAPTURE(l);
        CAPTURE(n);
        const Ends ends = ends_of(kernels(n, l), {.kernels = expanded});
        CHECK(ends.forward == nine_digits(closed_form(n, l, 10e-6)));
        // The second chain follows without a gap: as if both were one chain of 2 n.
        CHECK(ends.backward == nine_digits(closed_form(2 * n, l, 10e-6)));
      }
    }
  }
}

TEST_CASE("expanded chains take the same time, and their kernels fill the contracted spans") {
  const Experiment experiment(kGpt);
  const Simulation chains = experiment.run({.kernels = false});
  const Simulation kernels = experiment.run({.kernels = true});
  REQUIRE(chains.timeline.step_ends.size() == kernels.timeline.step_ends.size());
  for (std::size_t step = 0; step < chains.timeline.step_ends.size(); ++step) {
    CHECK(chains.timeline.step_ends[step] == nine_digits(kernels.timeline.step_ends[step]));
  }
  const auto coarse = compute_spans(chains.timeline.ranks.at(0));
  const auto fine = compute_spans(kernels.timeline.ranks.at(0));
  std::size_t next = 0;
  for (const Span* chain : coarse) {
    REQUIRE(next < fine.size());
    CHECK(fine[next]->start == nine_digits(chain->start));
    double busy = 0;
    double end = chain->start;
    for (; next < fine.size() && fine[next]->end <= chain->end * (1 + 1e-12); ++next) {
      CHECK(fine[next]->start >= end * (1 - 1e-12));
      busy += fine[next]->end - fine[next]->start;
      end = fine[next]->end;
    }
    CHECK(end == nine_digits(chain->end));
    REQUIRE(chain->mix >= 0);
    CHECK(busy == doctest::Approx(sum(chains.timeline.mixes[static_cast<std::size_t>(chain->mix)]) +
                                  chain->contention)
                      .epsilon(1e-9));
  }
  CHECK(next == fine.size());
  CHECK(fine.size() > 2 * coarse.size());
}
