// The input pipeline: workers, their prefetch queue, bursts, and storage that GPUs share.
//
// A step needs one batch and computes for c; a worker makes a batch in d; W workers take the
// batches in turn, and a worker starts on a batch when the one W * prefetch before it was taken
// (PyTorch's DataLoader).
//   no worker        the training process loads by itself: a step takes c + d
//   d/W <= c         a batch taken is replaced after d, before the W c until its place is needed
//                    again: no stall, whatever the prefetch, and a step takes c
//   d/W > c          W batches come at a time and are gone after W c; the next W are there d after
//                    the first was taken: the first step of W takes c + (d - W c), the others c,
//                    and the mean is d/W. Deeper queues change nothing: throughput is the bound.
// Deep queues hide uneven demand instead: m micro-batches of c each and an optimizer of o, with
// c < d. One worker with prefetch 1 delivers each batch d after the last: a step takes
// (m-1) d + c + o. When it may load all m ahead, while m d <= m c + o, a step takes m c + o.
// Storage of bandwidth R gives each of k readers R/k: a batch of S takes k S/R.
#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Loading {
  int workers = 1;
  int prefetch = 1;
  double decode_ms = 0;
  int gpus = 1;
  int micro_batches = 1;
  int warmup = 16;
  int steps = 16;
  std::string storage = "{bandwidth: 0 GB/s, latency: 0 us}";
};

/// 1 ms of forward, `backward` of backward pass; `elements` only give the optimizer something to
/// do.
Experiment loading(const Loading& l, Seconds backward = 3_ms, Seconds optimizer = Seconds{0}) {
  Scenario scenario = on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 1, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}
data: {{storage: {}, sample_size: 10 MB, workers: {}, prefetch: {}, decode: {} ms}}
host: {{launch: 0 us}}
run: {{steps: {}, warmup: {}}}
)",
                                           l.gpus, l.gpus * l.micro_batches, l.storage, l.workers,
                                           l.prefetch, l.decode_ms, l.steps, l.warmup));
  OpGraph graph = paper_graph(paper_layer(1_ms, backward), 1);
  if (optimizer > Seconds{0}) {
    // Gradients to fp32, unscale, Adam, weights back and clear: 6 + 8 + 28 + 6 + 2 B a parameter.
    constexpr double kElements = 1e9, kBytes = 50;
    graph = paper_graph(paper_layer(1_ms, backward, kElements), 1);
    scenario.cluster.gpu.memory_kernels.optimizer = Bytes{kElements * kBytes} / optimizer;
  }
  return {std::move(scenario), std::move(graph)};
}

constexpr double c = 4e-3;  // 1 ms forward, 3 ms backward

}  // namespace

TEST_CASE("without workers loading and computing take turns") {
  for (const double d : {0.5, 4.0, 20.0}) {
    CHECK(loading({.workers = 0, .decode_ms = d}).step_seconds() == nine_digits(c + d * 1e-3));
  }
}

TEST_CASE("W workers that are fast enough never let a step wait") {
  for (const int W : {1, 2, 5, 8}) {
    for (const int prefetch : {1, 2, 4}) {
      CAPTURE(W);
      CAPTURE(prefetch);
      const Metrics m =
          loading({.workers = W, .prefetch = prefetch, .decode_ms = 3.9 * W}).metrics();
      CHECK(m.step_time.seconds() == nine_digits(c));
      CHECK(m.data_stall_fraction == doctest::Approx(0));
    }
  }
}

TEST_CASE("W workers that are too slow set the pace: one batch every d/W") {
  for (const int W : {1, 2, 4, 8}) {
    for (const int prefetch : {1, 2, 4}) {
      CAPTURE(W);
      CAPTURE(prefetch);
      const double d = 10e-3 * W;
      const Metrics m =
          loading({.workers = W, .prefetch = prefetch, .decode_ms = d * 1e3}).metrics();
      CHECK(m.step_time.seconds() == nine_digits(d / W));
      CHECK(m.data_stall_fraction == nine_digits(1 - c * W / d));
    }
  }
}

TEST_CASE("slow workers show as a gap every W-th step, however deep the queue") {
  constexpr int W = 8;
  constexpr double d = 50e-3;  // 6.25 ms a batch, 32 ms of compute for W of them
  for (const int prefetch : {1, 2, 16}) {
    CAPTURE(prefetch);
    const Metrics m = loading({.workers = W, .prefetch = prefetch, .decode_ms = d * 1e3}).metrics();
    for (std::size_t step = 0; step < m.steps.size(); ++step) {
      CAPTURE(step);
      CHECK(m.steps[step].seconds() == nine_digits(step % W == 0 ? c + (d - W * c) : c));
    }
    CHECK(m.step_time.seconds() == nine_digits(d / W));
  }
}

TEST_CASE("a deep queue hides bursts of demand that a shallow one does not") {
  constexpr int m = 4;
  constexpr double d = 5e-3, o = 8e-3;  // m d = 20 ms fit into m c + o = 24 ms
  const auto step = [&](int prefetch) {
    return loading({.prefetch = prefetch, .decode_ms = d * 1e3, .micro_batches = m}, 3_ms,
                   Seconds{o})
        .metrics();
  };
  CHECK(step(1).step_time.seconds() == nine_digits((m - 1) * d + c + o));
  const Metrics deep = step(m);
  CHECK(deep.step_time.seconds() == nine_digits(m * c + o));
  CHECK(deep.data_stall_fraction == doctest::Approx(0));
}

TEST_CASE("k GPUs that read at the same time each get 1/k of the storage") {
  for (const int k : {1, 2, 4, 8}) {
    CAPTURE(k);
    const Experiment experiment =
        loading({.workers = 0, .gpus = k, .storage = "{bandwidth: 1 GB/s, latency: 2 ms}"});
    const double expected = c + k * 10e6 / 1e9 + 2e-3;
    CHECK(experiment.step_seconds() == nine_digits(expected));
    CHECK(experiment.step_seconds({.fold = false}) == nine_digits(expected));
  }
}

TEST_CASE("more workers do not make storage faster") {
  for (const int W : {1, 2, 4}) {
    CAPTURE(W);
    const Experiment experiment =
        loading({.workers = W, .prefetch = 2, .storage = "{bandwidth: 1 GB/s, latency: 0 us}"});
    CHECK(experiment.step_seconds() == doctest::Approx(10e6 / 1e9).epsilon(1e-9));
  }
}
