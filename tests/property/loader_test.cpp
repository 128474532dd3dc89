// The input pipeline against plain queues: steps of 1,000 random loaders end at the same time.
#include <random>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"
#include "tests/property/queues.hpp"

using namespace stepsim;

namespace {

/// Settings that a user could choose, drawn by a seed; numbers are round, so that ends may
/// coincide.
class RandomLoader {
 public:
  explicit RandomLoader(unsigned seed) : random_(seed) {
    s.workers = between(0, 6);
    s.prefetch = between(1, 4);
    s.micro_batches = between(1, 4);
    s.epoch_steps = one_in(3) ? between(2, 9) : 0;
    s.steps = between(8, 30);
    s.persistent = one_in(2);
    s.blocking = one_in(3);
    s.start = one_in(2) ? between(1, 90) * 1e-3 : 0;
    s.bytes = kSample;
    s.bandwidth = one_in(2) ? between(1, 40) * 1e8 : 0;
    s.waiting = one_in(2) ? between(1, 20) * 1e-3 : 0;
    s.cpu = between(0, 60) * 1e-3;
    s.cores = one_in(3) ? between(1, 5) : 0;
    if (s.cores > 0 && std::max(s.workers, 1) <= s.cores) s.cores = 0;
    s.pin = one_in(2) ? kDevice / kPinRate * between(1, 5) : 0;
    s.copy = one_in(2) ? kDevice / kCopyRate * between(1, 4) : 0;
    s.compute = between(1, 30) * 1e-3;
    s.optimizer = one_in(2) ? between(1, 20) * 1e-3 : 0;
  }

  std::string text() const {
    std::string text = fmt::format(
        "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
        "cluster: {{name: c, gpu: a100-80}}\n"
        "training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}\n"
        "host: {{launch: 0 us{}}}\n"
        "run: {{steps: {}, warmup: 0}}\n"
        "data:\n  sample_size: 10 MB\n  device_bytes: 1 MB\n"
        "  workers: {}\n  prefetch: {}\n  decode: {} s\n  worker_start: {} s\n"
        "  storage: {{bandwidth: {} B/s, latency: {} s}}\n"
        "  non_blocking: {}\n  persistent_workers: {}\n",
        s.micro_batches, s.cores > 0 ? fmt::format(", cores: {}", s.cores + 1) : "", s.steps,
        s.workers, s.prefetch, s.cpu, s.start, s.bandwidth, s.waiting, !s.blocking, s.persistent);
    if (s.epoch_steps > 0) text += fmt::format("  samples: {}\n", s.epoch_steps * s.micro_batches);
    if (s.pin > 0) text += fmt::format("  pin_bandwidth: {} B/s\n", kDevice / s.pin);
    if (s.copy > 0) text += fmt::format("  h2d_bandwidth: {} B/s\n", kDevice / s.copy);
    return text;
  }

  QueueSetting s;

 private:
  static constexpr double kSample = 10e6, kDevice = 1e6, kPinRate = 1e9, kCopyRate = 1e9;
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }

  std::mt19937 random_;
};

/// A scenario of one layer, which takes forward time only, and an optimizer.
Experiment experiment_of(const RandomLoader& loader) {
  constexpr double kElements = 1e9, kBytes = 50;  // as in closed_form/prefetch_test.cpp
  const double elements = loader.s.optimizer > 0 ? kElements : 0;
  Scenario scenario = on_paper(loader.text());
  if (elements > 0) {
    scenario.cluster.gpu.memory_kernels.optimizer =
        Bytes{kElements * kBytes} / Seconds{loader.s.optimizer};
  }
  const Seconds half{loader.s.compute / 2};
  return {std::move(scenario), paper_graph(paper_layer(half, half, elements), 1)};
}

}  // namespace

TEST_CASE("a thousand loaders deliver when plain queues do") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const RandomLoader loader(seed);
    CAPTURE(seed);
    CAPTURE(loader.text());
    const std::vector<double> expected = PlainQueues(loader.s).run();
    const Experiment experiment = experiment_of(loader);
    const std::vector<double> found = experiment.run().timeline.step_ends;
    REQUIRE(found.size() == expected.size());
    for (std::size_t step = 0; step < found.size(); ++step) {
      CAPTURE(step);
      CHECK(found[step] == nine_digits(expected[step]));
    }
  }
}

TEST_CASE("the gaps of a thousand loaders are those of plain queues") {
  for (unsigned seed = 1000; seed < 2000; ++seed) {
    RandomLoader loader(seed);
    loader.s.bandwidth = loader.s.cores = 0;
    QueueSetting fed = loader.s;  // the loader's setting without input
    fed.cpu = fed.waiting = fed.pin = fed.copy = fed.start = 0;
    CAPTURE(seed);
    CAPTURE(loader.text());
    const double stalled = PlainQueues(loader.s).run().back() - PlainQueues(fed).run().back();
    const Metrics metrics = experiment_of(loader).metrics();
    const double total = metrics.step_time.seconds() * loader.s.steps;
    CHECK(metrics.data_stall_fraction * total == doctest::Approx(stalled).epsilon(1e-7).scale(1));
  }
}
