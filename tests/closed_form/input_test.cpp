// Storage, epochs, pinning and cores of the input pipeline, with pencil and paper.
//
// A batch is one sample of S = 10 MB; the GPU computes c = 4 ms with it. With d from storage to
// memory and W workers a step takes max(c, d/W), without workers c + d (prefetch_test.cpp).
//   storage    R for a node and A for all: each of k nodes gets min(R, A/k). I reads a second of S
//              bytes are I S bytes a second; n samples a read are n times as many bytes and 1/n of
//              the latency. No read is faster than one stream.
//   epochs     the first batch of an epoch comes start + d after it is asked for
//   page cache of c = C/D of the data set: c + (1-c) ln(1-c) of it is found again on one node that
//              evicts what was used least recently, c where what was read first stays
//   pinning    one thread at p a batch: max(c, d/W, p)
//   cores      C of them give W workers C/W each: max(c, d / min(W, C))
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/cluster/input_links.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/input/input_cost.hpp"
#include "sim/scenario/storage_tier.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double c = 4e-3;
constexpr double S = 10e6;

struct Setting {
  std::string data;  ///< without sample_size
  int nodes = 1, gpus = 1;
  int warmup = 16, steps = 16;
  std::string layout = "";  ///< layout of the nodes
  std::string host = "";
};

Experiment with(const Setting& s) {
  Scenario scenario = on_paper(fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: {}, intra_node: {{bandwidth: 1 "
      "GB/s, latency: 0 us}}, inter_node: {{bandwidth: 8 Gbit/s, latency: 0 us}}{}}}\n"
      "training: {{global_batch: {}, precision: fp16, gradient_clipping: false}}\n"
      "host: {{launch: 0 us{}}}\nrun: {{warmup: {}, steps: {}}}\n"
      "data: {{sample_size: 10 MB, device_bytes: 10 MB, {}}}\n",
      s.nodes, s.gpus, s.layout, s.nodes * s.gpus, s.host, s.warmup, s.steps, s.data));
  return {std::move(scenario), paper_graph(paper_layer(1_ms, 3_ms), 1)};
}

double step(const Setting& s) { return with(s).step_seconds(); }

std::vector<double> steps(const Setting& s) {
  std::vector<double> result;
  for (const Seconds& time : with(s).metrics().steps) result.push_back(time.seconds());
  return result;
}

int loader_rows(const Setting& s) {
  const Simulation run = with(s).run();
  const auto& rows = run.timeline.ranks.front().rows;
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [](const Row& row) { return row.kind == RowKind::loader; }));
}

}  // namespace

TEST_CASE("nodes get their own storage bandwidth, or their part of what all get together") {
  for (const int k : {1, 2, 3, 8}) {
    CAPTURE(k);
    const double rate = std::min(1e9, 2e9 / k);
    const Setting setting{
        .data = "workers: 0, storage: {bandwidth: 1 GB/s, shared_bandwidth: 2 GB/s}", .nodes = k};
    CHECK(step(setting) == nine_digits(c + S / rate));
    CHECK(with(setting).step_seconds({.fold = false}) == nine_digits(c + S / rate));
  }
}

TEST_CASE("reads a second limit small files, shards are large reads") {
  const auto storage = [](const std::string& more) {
    return Setting{.data = "workers: 0, storage: {bandwidth: 1 GB/s, latency: 8 ms, " + more + "}"};
  };
  CHECK(step(storage("iops: 0")) == nine_digits(c + S / 1e9 + 8e-3));
  CHECK(step(storage("iops: 50")) == nine_digits(c + 1 / 50.0 + 8e-3));
  CHECK(step(storage("shared_iops: 20")) == nine_digits(c + 1 / 20.0 + 8e-3));
  CHECK(step(storage("iops: 50, samples_per_read: 4")) == nine_digits(c + S / 1e9 + 2e-3));
  CHECK(step(storage("iops: 50, samples_per_read: 0.5")) == nine_digits(c + 2 / 50.0 + 16e-3));
}

TEST_CASE("no read is faster than its stream, but several are together") {
  for (const int W : {1, 2, 4, 8}) {
    CAPTURE(W);
    const Setting setting{
        .data = fmt::format(
            "workers: {}, storage: {{bandwidth: 1 GB/s, stream_bandwidth: 250 MB/s}}", W)};
    CHECK(step(setting) == doctest::Approx(std::max(S / 1e9, S / (250e6 * W))).epsilon(1e-9));
  }
}

TEST_CASE("tiers have their numbers, and a word is a tier") {
  const Scenario s = with({.data = "storage: object_store"}).scenario;
  CHECK(s.data->storage == storage_of(StorageTier::object_store));
  const Scenario changed = scenario_of(
      "model: {name: m, kind: mlp, layers: 1, width: 1}\n"
      "cluster: {name: c, gpu: a100-80}\n"
      "training: {global_batch: 1, precision: fp16}\n"
      "data: {sample_size: 1 MB, storage: {tier: local_nvme, latency: 1 ms}}\n");
  Storage expected = storage_of(StorageTier::local_nvme);
  expected.latency = 1_ms;
  CHECK(changed.data->storage == expected);
  CHECK(scenario_of(to_yaml(changed)).data == changed.data);
}

TEST_CASE("through the fabric a read is no faster than the NIC, and shares it") {
  // 8 Gbit/s are 1 GB/s; two ranks of a node have a NIC each, the storage gives both 3 GB/s.
  const auto setting = [](const char* through) {
    return Setting{
        .data = fmt::format("workers: 0, storage: {{bandwidth: 3 GB/s, through: {}}}", through),
        .nodes = 2,
        .gpus = 2};
  };
  CHECK(step(setting("own")) == nine_digits(c + S / 1.5e9));
  CHECK(step(setting("fabric")) == nine_digits(c + S / 1e9));
}

TEST_CASE("an epoch begins with empty queues, and with new workers unless they persist") {
  // Two workers, 5 ms a batch: never waited for but at the start of the 4 steps of an epoch.
  const std::string data = "workers: 2, decode: 5 ms, worker_start: 7 ms, samples: 4";
  const auto first_of_each = [&](const std::string& more) {
    return steps({.data = data + more, .warmup = 4, .steps = 8});
  };
  const std::vector<double> anew = first_of_each("");
  const std::vector<double> persist = first_of_each(", persistent_workers: true");
  for (std::size_t i = 0; i < anew.size(); ++i) {
    CAPTURE(i);
    CHECK(anew[i] == nine_digits(i % 4 == 0 ? c + 12e-3 : c));
    CHECK(persist[i] == nine_digits(i % 4 == 0 ? c + 5e-3 : c));
  }
}

TEST_CASE("an epoch without whole steps at its end drops what is left over") {
  const std::vector<double> times =
      steps({.data = "workers: 1, decode: 3 ms, samples: 11", .gpus = 4, .warmup = 2, .steps = 4});
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(times[i] == nine_digits(i % 2 == 0 ? c + 3e-3 : c));
}

TEST_CASE("a page cache as large as the data set is cold for one epoch") {
  const std::vector<double> times =
      steps({.data = "workers: 0, samples: 2, storage: {bandwidth: 1 GB/s, latency: 1 ms, "
                     "page_cache: 20 MB, page_cache_bandwidth: 10 GB/s}",
             .warmup = 0,
             .steps = 6});
  for (std::size_t i = 0; i < times.size(); ++i)
    CHECK(times[i] == nine_digits(i < 2 ? c + 11e-3 : c + 1e-3));
}

TEST_CASE(
    "half a data set in the cache is found again where it stays, and 15 % where it does not") {
  for (const double share : {0.1, 0.5, 0.9}) {
    CHECK(cache_hits(CachePolicy::keep, share, 1, 1) == nine_digits(share));
    CHECK(cache_hits(CachePolicy::lru, share, 1, 1) ==
          nine_digits(share + (1 - share) * std::log(1 - share)));
  }
  CHECK(cache_hits(CachePolicy::lru, 0.5, 1, 0) == 0);
  CHECK(cache_hits(CachePolicy::lru, 1, 1, 1) == 1);
  // With two nodes, each has seen 1 - 1/2^e of the data set after e epochs.
  CHECK(cache_hits(CachePolicy::keep, 1, 2, 1) == nine_digits(0.5));
  CHECK(cache_hits(CachePolicy::keep, 1, 2, 2) == nine_digits(0.75));
  // Dealt anew among many nodes a sample comes by chance: all policies find what they hold.
  CHECK(cache_hits(CachePolicy::lru, 0.4, 1000, 1'000'000) == doctest::Approx(0.4).epsilon(1e-3));
}

TEST_CASE("LRU's share of hits is that of a cache simulated sample by sample") {
  // Two nodes: this one reads half of each permutation. The closed form is for endless data sets,
  // so within 1 %.
  constexpr int kSamples = 4000, kFit = 1500, kEpochs = 60;
  std::vector<int> order(kSamples);
  for (int i = 0; i < kSamples; ++i) order[static_cast<std::size_t>(i)] = i;
  std::uint64_t state = 1;
  const auto random = [&](int n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>((state >> 33) % static_cast<std::uint64_t>(n));
  };
  std::vector<int> recent;  // least recent first
  int hits = 0, reads = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (int i = kSamples - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)], order[random(i + 1)]);
    for (int i = 0; i < kSamples / 2; ++i) {
      const int sample = order[static_cast<std::size_t>(i)];
      const auto found = std::find(recent.begin(), recent.end(), sample);
      if (epoch >= 20) ++reads;
      if (found != recent.end()) {
        if (epoch >= 20) ++hits;
        recent.erase(found);
      } else if (recent.size() == kFit) {
        recent.erase(recent.begin());
      }
      recent.push_back(sample);
    }
  }
  const double expected = cache_hits(CachePolicy::lru, static_cast<double>(kFit) / kSamples, 2, 40);
  CHECK(static_cast<double>(hits) / reads == doctest::Approx(expected).epsilon(0.01));
}

TEST_CASE("one thread that pins is a worker more in a row") {
  for (const double pin_ms : {1.0, 3.0, 6.0, 9.0}) {
    CAPTURE(pin_ms);
    const Setting setting{
        .data = fmt::format("workers: 4, decode: 10 ms, pin_bandwidth: {} MB/s", S / pin_ms / 1e3)};
    CHECK(step(setting) == doctest::Approx(std::max(c, pin_ms * 1e-3)).epsilon(1e-9));
    CHECK(loader_rows(setting) == 4);
    const Setting serial{
        .data = fmt::format("workers: 0, decode: 10 ms, pin_bandwidth: {} MB/s", S / pin_ms / 1e3)};
    CHECK(step(serial) == nine_digits(c + 10e-3 + pin_ms * 1e-3));
  }
}

TEST_CASE("a copy is on the way of each step; a blocking one holds up the host") {
  const std::string data = "workers: 2, decode: 1 ms, h2d_bandwidth: 5 GB/s";
  CHECK(step({.data = data}) == nine_digits(c + 2e-3));
  CHECK(step({.data = data + ", non_blocking: false"}) == nine_digits(c + 2e-3));
  CHECK(step({.data = data + ", pinned: false"}) == nine_digits(c + 2e-3));
}

TEST_CASE("workers share the cores that the GPUs' own processes leave") {
  constexpr double d = 24e-3;
  for (const int W : {1, 2, 4, 8, 16}) {
    for (const double cores : {1.5, 4.0, 7.0}) {
      CAPTURE(W);
      CAPTURE(cores);
      const Setting setting{.data = fmt::format("workers: {}, decode: 24 ms, prefetch: 4", W),
                            .host = fmt::format(", cores: {}", cores + 1)};
      CHECK(step(setting) ==
            doctest::Approx(std::max(c, d / std::min<double>(W, cores))).epsilon(1e-9));
    }
  }
  // 2 GPUs x 3 workers on 8 - 2 x 1 cores: enough.
  const auto of = [](double cores) {
    return with({.data = "workers: 3", .gpus = 2, .host = fmt::format(", cores: {}", cores)});
  };
  CHECK_FALSE(shares_cores(of(8).scenario));
  CHECK(shares_cores(of(7.9).scenario));
}

TEST_CASE("what a sample costs is a time, a rate of its bytes, or both") {
  CHECK(step({.data = "workers: 0, decode: 5 ms, decode_rate: 1 GB/s, transform: 2 ms, "
                      "transform_rate: 500 MB/s"}) == nine_digits(c + 5e-3 + 10e-3 + 2e-3 + 20e-3));
}

TEST_CASE("the GPU decodes before it computes, and gets what was read") {
  const Setting setting{.data =
                            "workers: 1, decode_on: gpu, decode: 3 ms, decode_rate: 5 GB/s, "
                            "transform: 1 ms, h2d_bandwidth: 10 GB/s"};
  const Experiment experiment = with(setting);
  CHECK(experiment.step_seconds() == nine_digits(c + 3e-3 + 2e-3 + 1e-3));
  CHECK(experiment.metrics().data_stall_fraction == nine_digits(6 / 10.0));
}

TEST_CASE(
    "workers and their batches that do not fit into the node are an error with both numbers") {
  const std::string data = "workers: 8, prefetch: 2, worker_memory: 1 GB, host_memory: ";
  CHECK_NOTHROW(with({.data = data + "17 GB", .gpus = 2}));
  CHECK_THROWS_WITH_AS(with({.data = data + "16 GB", .gpus = 2}),
                       doctest::Contains("2 GPUs x 8 workers"), UserError);
}

TEST_CASE("a copy enters the slot of a PCIe node that its NIC's traffic passes") {
  const Experiment nvswitch = with({.data = "h2d_bandwidth: 5 GB/s", .nodes = 2, .gpus = 2});
  const Experiment pcie = with({.data = "h2d_bandwidth: 5 GB/s",
                                .nodes = 2,
                                .gpus = 2,
                                .layout = ", node_topology: {kind: pcie, pcie_bandwidth: 4 GB/s}"});
  constexpr auto kLane = static_cast<std::size_t>(Lane::host_to_device);
  CHECK(nvswitch.plan.lanes[0][kLane].empty());
  REQUIRE(pcie.plan.lanes[3][kLane].size() == 1);
  CHECK(pcie.plan.network.name_of(pcie.plan.lanes[3][kLane][0]) == "node 1 switch 0 to gpu 1");
  CHECK(nvswitch.step_seconds() == nine_digits(c + S / 5e9));
  CHECK(pcie.step_seconds() == nine_digits(c + S / 4e9));  // the slot is slower than the engine
}

TEST_CASE("samples that differ take their draws, each rank its own, whatever is folded") {
  const Setting setting{.data =
                            "workers: 0, decode: 10 ms, variation: {distribution: empirical, "
                            "values: [1, 3]}",
                        .gpus = 2,
                        .warmup = 0,
                        .steps = 40};
  const Experiment experiment = with(setting);
  const Simulation folded = experiment.run(), unfolded = experiment.run({.fold = false});
  CHECK(folded.timeline.ranks.size() == 2);
  CHECK(folded.timeline.step_ends == unfolded.timeline.step_ends);
  // Scaled to a mean of 1 the values are 1/2 and 3/2: a sample takes 5 or 15 ms.
  int slow = 0;
  for (const RankTimeline& rank : folded.timeline.ranks) {
    for (const Span& span : rank.spans) {
      if (rank.rows[span.row].kind != RowKind::loader) continue;
      const bool is_slow = span.end - span.start > 10e-3;
      slow += is_slow ? 1 : 0;
      CHECK(span.end - span.start == doctest::Approx(is_slow ? 15e-3 : 5e-3).epsilon(1e-9));
    }
  }
  CHECK(slow > 20);  // 80 loads in all; fewer are hardly ever slow
  CHECK(slow < 60);
  Scenario other = experiment.scenario;
  other.run.seed = 1;
  const Experiment again(std::move(other), paper_graph(paper_layer(1_ms, 3_ms), 1));
  CHECK(again.run().timeline.step_ends != folded.timeline.step_ends);
}

TEST_CASE("a slow sample holds up the batches of all workers behind it") {
  // One sample in ten takes 91 ms, the others 1 ms: with W workers the mean is 10 ms / W a batch,
  // but batches come in order, so that the loop waits for most of the slow ones.
  const auto step_with = [](int prefetch) {
    return step(
        {.data = fmt::format("workers: 4, prefetch: {}, decode: 10 ms, variation: {{distribution: "
                             "empirical, values: [1, 1, 1, 1, 1, 1, 1, 1, 1, 91]}}",
                             prefetch),
         .warmup = 100,
         .steps = 400});
  };
  const double shallow = step_with(1), deep = step_with(16);
  CHECK(shallow > 1.5 * c);
  CHECK(deep < shallow);
}
