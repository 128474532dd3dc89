// Compares a real loader of real JPEG files with its prediction as a scenario.
//
// What one worker needs for a batch, and how many cores the machine has for several of them at a
// time, is measured around each setting. From these two numbers and the setting itself stepsim
// predicts its throughput and its pattern of gaps. STEPSIM_LOADER_LIMIT is how far off a setting
// may be in the best of four tries (0.1 on a machine with nothing else to do; 0.5 where it is not
// set).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"
#include "validate/loader/jpeg_files.hpp"
#include "validate/loader/real_loader.hpp"

using namespace stepsim;

namespace {

constexpr int kBatch = 4, kBatches = 32, kWarmup = 8;
constexpr int kMeasured = kBatches - kWarmup;
constexpr int kTries = 4;         // other programs may run on this machine at the same time
constexpr double kPattern = 0.3;  // real workers do not keep their distance exactly

double limit() {
  const char* text = std::getenv("STEPSIM_LOADER_LIMIT");
  return text == nullptr ? 0.5 : std::atof(text);
}

struct Machine {
  double batch = 0;  ///< seconds that one worker needs for a batch
  double cores = 0;  ///< lone workers that several workers at a time are worth
};

/// Measures both numbers of a Machine with loaders whose loop takes no time.
Machine measure_machine(const std::function<void(std::size_t)>& load) {
  const int threads = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  const auto seconds = [&](int workers, int batches) {
    const RealSetting setting{
        .workers = workers, .prefetch = 2, .batch = kBatch, .batches = batches};
    return run_real(setting, load).back() / batches;
  };
  Machine machine;
  machine.batch = seconds(1, 10);
  machine.cores = std::max(1.0, machine.batch / seconds(threads, 10 * threads));
  return machine;
}

/// The times of the steps after the warm-up, and the part of them that is waiting, by step modulo
/// the workers.
struct Steps {
  double mean = 0;
  std::vector<double> waits;
};

Steps steps_of(const std::vector<double>& ends, const RealSetting& setting) {
  Steps result;
  const std::size_t turn = static_cast<std::size_t>(std::max(setting.workers, 1));
  result.waits.assign(turn, 0.0);
  const std::size_t first = kWarmup;
  result.mean = (ends.back() - ends[first - 1]) / static_cast<double>(ends.size() - first);
  for (std::size_t i = first; i < ends.size(); ++i)
    result.waits[i % turn] += std::max(0.0, ends[i] - ends[i - 1] - setting.step);
  return result;
}

Steps predicted(const RealSetting& setting, const Machine& machine) {
  Scenario scenario = on_paper(fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
      "cluster: {{name: c, gpu: a100-80}}\n"
      "training: {{global_batch: {0}, micro_batch: {0}, precision: fp16, gradient_clipping: "
      "false}}\n"
      "host: {{launch: 0 us, cores: {5}, threads: 0}}\nrun: {{warmup: 0, steps: {1}}}\n"
      "data: {{sample_size: 1 MB, workers: {2}, prefetch: {3}, decode: {4} s}}\n",
      setting.batch, setting.batches, setting.workers, setting.prefetch,
      machine.batch / setting.batch, machine.cores));
  const Seconds half{setting.step / 2};
  const Experiment experiment(std::move(scenario), paper_graph(paper_layer(half, half), 1));
  return steps_of(experiment.run().timeline.step_ends, setting);
}

double all_waits(const Steps& steps) {
  return std::accumulate(steps.waits.begin(), steps.waits.end(), 0.0);
}

/// The largest part of all waiting that falls on one of the turns: all of it, where workers that
/// are too slow deliver their batches together.
double largest(const Steps& steps) {
  const double all = all_waits(steps);
  return all > 0 ? *std::max_element(steps.waits.begin(), steps.waits.end()) / all : 0;
}

struct Outcome {
  RealSetting setting;
  Steps measured, predicted;
  double error() const { return predicted.mean / measured.mean - 1; }
};

Outcome try_setting(RealSetting setting, double step_over_batch,
                    const std::function<void(std::size_t)>& load) {
  const Machine before = measure_machine(load);
  setting.batch = kBatch;
  setting.batches = kBatches;
  setting.step = step_over_batch * before.batch;
  Outcome outcome{setting, steps_of(run_real(setting, load), setting), {}};
  const Machine after = measure_machine(load);
  outcome.predicted =
      predicted(setting, {(before.batch + after.batch) / 2, (before.cores + after.cores) / 2});
  return outcome;
}

struct Case {
  int workers, prefetch;
  double step;  ///< time of a step over the time of a batch in one worker
};

/// Cases that starve and that are fed, serial and parallel, with fewer and more workers than most
/// machines have cores.
constexpr Case kCases[] = {{0, 2, 0.5}, {0, 2, 2}, {1, 1, 0.3}, {1, 2, 0.7},
                           {1, 2, 1.5}, {1, 4, 3}, {2, 1, 0.2}, {2, 2, 0.4},
                           {2, 2, 0.8}, {2, 4, 2}, {3, 2, 0.2}, {4, 2, 0.3}};

}  // namespace

TEST_CASE("throughput and gaps of a real loader are those of its scenario") {
  const JpegFiles files(24, 400, 300);
  const auto load = [&](std::size_t sample) { files.load(sample); };
  std::printf(
      "workers prefetch   step ms   measured  predicted     error   largest gap of a turn\n");
  for (const Case& one : kCases) {
    Outcome best;
    for (int i = 0; i < kTries; ++i) {
      const Outcome outcome =
          try_setting({.workers = one.workers, .prefetch = one.prefetch}, one.step, load);
      if (i == 0 || std::abs(outcome.error()) < std::abs(best.error())) best = outcome;
      if (std::abs(best.error()) < 0.1) break;
    }
    const auto rate = [&](const Steps& steps) { return kBatch / steps.mean; };
    std::printf(
        "%7d %8d %9.2f %6.0f /s  %6.0f /s %+8.1f %%   %3.0f %% measured, %3.0f %% predicted\n",
        one.workers, one.prefetch, best.setting.step * 1e3, rate(best.measured),
        rate(best.predicted), -100 * best.error() / (1 + best.error()),
        100 * largest(best.measured), 100 * largest(best.predicted));
    CAPTURE(one.workers);
    CAPTURE(one.prefetch);
    CAPTURE(one.step);
    CHECK(rate(best.predicted) / rate(best.measured) ==
          doctest::Approx(1).epsilon(limit()).scale(0));
    const bool is_starved = all_waits(best.predicted) > 0.2 * best.predicted.mean * kMeasured;
    if (is_starved)
      CHECK(std::abs(largest(best.measured) - largest(best.predicted)) < kPattern + limit());
  }
}
