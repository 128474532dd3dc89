// The search against doing it all: its conditions against the reader's, its bounds against
// simulations, its best strategy against the best of every strategy.
#include <algorithm>
#include <cstdlib>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "sim/command/answer/counterfactuals.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/search/best_first.hpp"
#include "sim/search/pareto_front.hpp"
#include "sim/search/stage_finish_times.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const Library kLibrary{{source_folder()}};

Scenario read(const std::string& text, const std::vector<std::string>& settings = {}) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return parse_scenario(text, "test.yaml", kLibrary, overrides, known_names());
}

const std::string kOneNode =
    "cluster: {name: half-dgx, gpu: a100-80, gpus_per_node: 4, intra_node: nvlink3}\n";

/// Kernels that are long enough to hide launches, or a model of a hundred layers would be wanted.
const std::string kDense =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2}\n"
    "parallelism: {data: {sharding: zero1}}\n";

/// What other shardings do not have.
const std::string kGathers =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2}\n"
    "parallelism: {data: {sharding: zero1, overlap_param_gather: true, align_param_gather: "
    "true}}\n";

const std::string kCopies =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2}\n"
    "parallelism: {tensor: 2, sequence: true, dtensor: true, data: {sharding: zero3, copy_out: "
    "true}}\n";

const std::string kTwoNodes =
    "model: {name: small, layers: 6, hidden: 1024, heads: 16, vocabulary: 8192}\n"
    "cluster: {base: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 512, global_batch: 32}\n"
    "parallelism: {overlap_tensor: false}\n";

const std::string kExperts =
    "model: {name: experts, layers: 4, hidden: 1024, heads: 8, vocabulary: 8192,\n"
    "        experts: {count: 4, top_k: 2, ffn: 2048}}\n" +
    kOneNode + "training: {sequence_length: 512, global_batch: 8}\n";

/// Exchanges that pairs of passes hide.
const std::string kPairs =
    kExperts + "parallelism: {expert: {degree: 2, dispatcher: deepep, overlap: true}}\n";

const std::string kMegatron =
    "framework: megatron\n"
    "model: {name: small, layers: 7, hidden: 1024, heads: 8, vocabulary: 8192}\n" +
    kOneNode + "training: {sequence_length: 512, global_batch: 12, optimizer: lamb}\n";

const std::string kMlp = "model: {kind: mlp, layers: 4, width: 4096}\n" + kOneNode +
                         "training: {global_batch: 64, precision: bf16}\n";

/// What strategies vary, stated otherwise than by default.
const std::string kSomeModules =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, "
    "gradient_clipping: false,\n"
    "           recompute: {kind: selective, modules: [layernorm]}}\n"
    "parallelism: {data: {sharding: zero1, no_sync: false}}\n";

const std::string kEarlyStop =
    "model: {name: small, layers: 8, hidden: 1024, heads: 16, vocabulary: 8192}\n"
    "cluster: {base: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 512, global_batch: 32, recompute: {kind: full, early_stop: true}}"
    "\n";

/// A scenario of a framework whose defaults follow from what is sharded.
std::string of_framework(const std::string& framework) {
  return "framework: " + framework +
         "\nmodel: {name: small, layers: 4, hidden: 1024, heads: 8, vocabulary: 8192}\n" +
         kOneNode + "training: {sequence_length: 512, global_batch: 8, attention: flash2}\n";
}

const std::string kPictures =
    "framework: pytorch-ddp\nmodel: resnet50\n" + kOneNode +
    "training: {global_batch: 256, precision: fp16, optimizer: momentum}\n";

/// Rules about what strategies vary, which hold for the scenario as it stands.
const std::string kWholeLogits =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, cross_entropy: torch}\n"
    "parallelism: {tensor: 2, sequence: true, dtensor: true}\n";

const std::string kFoundGradients =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, "
    "used_gradients: clear_tensors}\n"
    "parallelism: {data: {sharding: zero3}}\n";

const std::string kNormsApart =
    "model: resnet50\n" + kOneNode +
    "training: {global_batch: 256, precision: fp16, optimizer: momentum, fusion: mxnet}\n"
    "parallelism: {data: {overlap: false}}\n";

const std::string kAllReduced =
    "model: {name: small, layers: 4, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2}\n"
    "parallelism: {data: {sharding: zero1, all_reduce_gradients: true}}\n";

/// Parameters that are gathered in fp8.
const std::string kFp8 =
    "model: {name: small, layers: 4, hidden: 4096, heads: 32, vocabulary: 1024}\n"
    "cluster: {base: dgx-h100}\n"
    "training: {sequence_length: 512, global_batch: 8, attention: flash3, precision: fp8, "
    "fp8_scaling: current, fp8_parameters: true}\n"
    "parallelism: {data: {sharding: zero1, overlap: false}}\n";

/// A loop that copies what is kept, which depends on what is recomputed.
const std::string kScan =
    "model: {name: small, layers: 8, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, scan_layers: true}\n";

/// A loop like kScan whose parameters ZeRO-3 gathers ahead.
const std::string kLoop =
    "model: {name: small, layers: 8, hidden: 2048, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, scan_layers: true, "
    "fusion: pax}\n"
    "parallelism: {data: {sharding: zero3, forward_prefetch: true, backward_prefetch: pre}}\n";

/// Fp8 parameters that begin where the reader wants them.
const std::string kGathersFp8 =
    "model: {name: small, layers: 4, hidden: 4096, heads: 32, vocabulary: 1024}\n"
    "cluster: {base: dgx-h100}\n"
    "training: {sequence_length: 512, global_batch: 8, attention: flash3, precision: fp8, "
    "fp8_parameters: true}\n"
    "parallelism: {data: {sharding: zero3}}\n";

/// A first layer without a gradient of its input, which depends on what is recomputed.
const std::string kLora =
    "model: {name: small, layers: 2, hidden: 4096, heads: 32, vocabulary: 8192, tied_embeddings: "
    "false}\n" +
    kOneNode +
    "training: {sequence_length: 1024, global_batch: 8, attention: flash2, lora: {rank: 16}}\n";

/// Adapters behind attention, which has no gradient in the first layer then.
const std::string kLastLora =
    "model: {name: small, layers: 4, hidden: 1024, heads: 16, vocabulary: 8192}\n" + kOneNode +
    "training: {sequence_length: 512, global_batch: 8, attention: flash2,\n"
    "           recompute: {kind: selective, modules: [core_attention, layernorm]},\n"
    "           lora: {rank: 8, target_modules: [linear_fc1, linear_fc2], dropout: true}}\n";

/// Frozen weights in fp8 alone.
const std::string kLoraFp8 =
    "model: {name: small, layers: 4, hidden: 4096, heads: 32, vocabulary: 1024}\n"
    "cluster: {base: dgx-h100}\n"
    "training: {sequence_length: 512, global_batch: 8, attention: flash3, precision: fp8, "
    "fp8_parameters: true, lora: {rank: 16}}\n"
    "parallelism: {data: {sharding: ddp}}\n";

struct Everything {
  std::vector<Strategy> accepted, refused;
};

Everything everything(const SearchBase& base, const Axes& axes) {
  Everything all;
  walk(axes, base,
       [&](const FrameVariants& frame) {
         all.accepted.insert(all.accepted.end(), frame.variants.begin(), frame.variants.end());
         all.refused.insert(all.refused.end(), frame.refused_ones.begin(),
                            frame.refused_ones.end());
         CHECK(frame.refused == static_cast<std::int64_t>(frame.refused_ones.size()));
       },
       {.keep_refused = true, .stops = {}});
  return all;
}

SearchBase base_of(const std::string& text) { return search_base(read(text), {}); }

/// The reader's scenario, or nothing where it refuses.
std::optional<Scenario> reader_of(const std::string& text, const SearchBase& base,
                                  const Strategy& strategy) {
  try {
    return read(text, settings_of(strategy, base));
  } catch (const UserError&) {
    return std::nullopt;
  }
}

StrategyOutcome simulated(const SearchBase& base, const Strategy& strategy) {
  Scenario scenario = base.scenario;
  set_strategy(scenario, strategy, base);
  const OpGraph graph = build(scenario);
  const Memory memory{memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{}, 1};
  StrategyOutcome outcome{
      .refusal = {}, .peak = memory.worst().needed(), .fits = memory.fits(), .step = {}, .mfu = 0};
  try {
    if (outcome.fits) outcome.step = step_of(make_plan(scenario, graph));
  } catch (const SimulationError& error) {  // transfers that nothing overlaps can lock
    if (std::getenv("STEPSIM_SAY")) fmt::print("{}: {}\n", strategy_text(strategy), error.what());
  }
  return outcome;
}

/// In processes of their own, many in each.
std::vector<StrategyOutcome> simulated(const SearchBase& base,
                                       const std::vector<Strategy>& strategies) {
  constexpr std::size_t kEach = 64;
  const std::size_t count = (strategies.size() + kEach - 1) / kEach;
  const auto answers = run_forked(static_cast<int>(count), 2, [&](int piece) {
    std::vector<double> numbers;
    const std::size_t begin = static_cast<std::size_t>(piece) * kEach;
    for (std::size_t i = begin; i < std::min(begin + kEach, strategies.size()); ++i) {
      const StrategyOutcome outcome = simulated(base, strategies[i]);
      numbers.insert(numbers.end(), {outcome.step.seconds(), outcome.peak.bytes()});
    }
    return text_of(numbers);
  });
  std::vector<StrategyOutcome> outcomes;
  for (const auto& answer : answers) {
    const std::vector<double> numbers = numbers_of(answer.value());
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
      outcomes.push_back({.refusal = {},
                          .peak = Bytes{numbers[i + 1]},
                          .fits = numbers[i] > 0,
                          .step = Seconds{numbers[i]},
                          .mfu = 0});
  }
  return outcomes;
}

/// What STEPSIM_DRAWS states, as among the long tests, or fewer.
int draws_or(int fewer) {
  const char* stated = std::getenv("STEPSIM_DRAWS");
  return stated == nullptr ? fewer : std::atoi(stated);
}

/// Every n-th, so that a test is not longer than it has to be.
std::vector<Strategy> some_of(const std::vector<Strategy>& all, std::size_t most) {
  const std::size_t every = std::max<std::size_t>(all.size() / most, 1);
  std::vector<Strategy> some;
  for (std::size_t i = 0; i < all.size(); i += every) some.push_back(all[i]);
  return some;
}

/// The axes of a scenario, and those that are searched where they are named, too.
Axes all_axes_of(const SearchBase& base, const std::string& text) {
  Axes axes = axes_of(base, {base.scenario.cluster.gpus()});
  if (text == kExperts) restrict_axis(axes, "dispatcher=all_to_all,all_gather,deepep,hybrid_ep");
  return axes;
}

}  // namespace

TEST_CASE("the search finds strategies to fit together exactly where the reader does") {
  for (const std::string& text : {kDense,
                                  kGathers,
                                  kCopies,
                                  kTwoNodes,
                                  kExperts,
                                  kPairs,
                                  kMegatron,
                                  kMlp,
                                  kPictures,
                                  kWholeLogits,
                                  kFoundGradients,
                                  kNormsApart,
                                  kAllReduced,
                                  kFp8,
                                  kGathersFp8,
                                  kScan,
                                  kLoop,
                                  kLora,
                                  kLastLora,
                                  kLoraFp8,
                                  of_framework("pytorch-ddp"),
                                  of_framework("pytorch-fsdp1"),
                                  of_framework("pytorch-fsdp2"),
                                  of_framework("deepspeed")}) {
    CAPTURE(text);
    const SearchBase base = base_of(text);
    const Everything all = everything(base, all_axes_of(base, text));
    REQUIRE(!all.accepted.empty());
    for (const Strategy& strategy : some_of(all.accepted, 200)) {
      CAPTURE(strategy_text(strategy));
      auto read = reader_of(text, base, strategy);
      REQUIRE(read.has_value());
      Scenario set = base.scenario;
      set_strategy(set, strategy, base);
      set.hash = read->hash;
      CHECK(set == *read);
    }
    for (const Strategy& strategy : some_of(all.refused, 200)) {
      CAPTURE(strategy_text(strategy));
      CHECK(!reader_of(text, base, strategy).has_value());
    }
  }
}

TEST_CASE("no strategy is faster than its bound or needs less memory") {
  for (const std::string& text :
       {kDense, kTwoNodes, kExperts, kPairs, kMegatron, kMlp, kSomeModules, kEarlyStop, kFp8, kScan,
        kLora, kLastLora, kLoraFp8, kPictures}) {
    CAPTURE(text);
    const SearchBase base = base_of(text);
    const auto most = static_cast<std::size_t>(draws_or(100));
    const auto strategies = some_of(everything(base, all_axes_of(base, text)).accepted, most);
    const auto outcomes = simulated(base, strategies);
    REQUIRE(outcomes.size() == strategies.size());
    // What strategies share is made for the one that is asked for first.
    for (const bool from_last : {false, true}) {
      CAPTURE(from_last);
      Bounds bounds(base);
      for (std::size_t asked = 0; asked < strategies.size(); ++asked) {
        const std::size_t i = from_last ? strategies.size() - 1 - asked : asked;
        CAPTURE(strategy_text(strategies[i]));
        const Bound bound = bounds.refined(strategies[i]);
        CHECK(bound.step >= bounds.of(strategies[i]).step);
        CHECK(bound.memory.bytes() <= outcomes[i].peak.bytes() * (1 + 1e-9));
        if (outcomes[i].fits)
          CHECK(bound.step.seconds() <= outcomes[i].step.seconds() * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("the order of passes gives the bubble that schedules are known for") {
  // With p equal stages and m micro-batches, 1F1B takes (m + p - 1) (F + B) (arXiv 2104.04473,
  // section 2.2.1), and with v chunks a stage m (F + B) + (p - 1) (F + B) / v.
  const std::vector<PartTimes> parts(4, {.forward = 1, .backward = 2});
  const auto ends = [&](const char* name, int chunks, const std::vector<PartTimes>& times) {
    const PipelineShape shape{.stages = 4, .micro_batches = 8, .chunks = chunks};
    return stage_finish_times(*Registry<Schedule>::find(name), shape,
                              {.stages = 4, .overlap_p2p = true}, times);
  };
  CHECK(ends("1f1b", 1, parts).front() == doctest::Approx((8 + 3) * 3.0));
  CHECK(ends("gpipe", 1, parts).front() == doctest::Approx((8 + 3) * 3.0));
  const std::vector<PartTimes> halves(8, {.forward = 0.5, .backward = 1});
  CHECK(ends("interleaved", 2, halves).front() == doctest::Approx(8 * 3 + 3 * 3.0 / 2));
  // A message on each of the hops of the first micro-batch and of the last gradient.
  const std::vector<PartTimes> far(4, {.forward = 1, .backward = 2, .hop = 0.25});
  CHECK(ends("gpipe", 1, far).front() == doctest::Approx((8 + 3) * 3 + 6 * 0.25));
}

TEST_CASE("bounds hold in random scenarios, too, and the reader agrees about their strategies") {
  const int draws = draws_or(40);
  for (int seed = 1; seed <= draws; ++seed) {
    const std::string text = RandomScenario(static_cast<std::uint64_t>(seed), true).text();
    CAPTURE(text);
    // What its text states of the keys that follow from a strategy.
    const SearchBase base{.scenario = read(text),
                          .stated = {.overlap_p2p = true,
                                     .batch_p2p_sync = true,
                                     .overlap = true,
                                     .bucket = true,
                                     .shard_degree = text.find("shard_degree") != std::string::npos,
                                     .steps = true,
                                     .warmup = true}};
    const auto all = everything(base, axes_of(base, {base.scenario.cluster.gpus()})).accepted;
    const auto strategies = some_of(all, 6);
    const auto outcomes = simulated(base, strategies);
    REQUIRE(outcomes.size() == strategies.size());
    Bounds bounds(base);
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      CAPTURE(strategy_text(strategies[i]));
      auto read = reader_of(text, base, strategies[i]);
      REQUIRE(read.has_value());
      Scenario set = base.scenario;
      set_strategy(set, strategies[i], base);
      set.hash = read->hash;
      CHECK(set == *read);
      const Bound bound = bounds.refined(strategies[i]);
      CHECK(bound.step >= bounds.of(strategies[i]).step);
      CHECK(bound.memory.bytes() <= outcomes[i].peak.bytes() * (1 + 1e-9));
      if (outcomes[i].fits) CHECK(bound.step.seconds() <= outcomes[i].step.seconds() * (1 + 1e-9));
    }
  }
}

TEST_CASE("the best of a search is the best of all strategies, for any number of simulations") {
  const SearchBase base = base_of(kDense);
  Axes axes = axes_of(base, {4});
  restrict_axis(axes, "recompute=none,full");
  restrict_axis(axes, "bucket=100MiB");
  restrict_axis(axes, "context=1");
  restrict_axis(axes, "schedule=1f1b,interleaved,zb-v,dualpipe");
  const auto all = everything(base, axes).accepted;
  const auto outcomes = simulated(base, all);
  Seconds best{1e9};
  for (const StrategyOutcome& outcome : outcomes) {
    if (outcome.fits) best = std::min(best, outcome.step);
  }
  const auto simulate = [&](const std::vector<TriedStrategy>& batch) {
    std::vector<std::optional<StrategyOutcome>> found;
    for (const TriedStrategy& tried : batch) {
      const auto place = std::find(all.begin(), all.end(), tried.strategy);
      REQUIRE(place != all.end());
      found.emplace_back(outcomes[static_cast<std::size_t>(place - all.begin())]);
    }
    return found;
  };
  const SearchLimits limits{
      .simulations = 1'000'000, .keep = 1, .capacity = base.scenario.cluster.gpu.memory, .own = {}};
  const SearchOutcome found = search(axes, base, limits, simulate, {});
  REQUIRE(!found.ranked.empty());
  CHECK(found.ranked.front().outcome.step.seconds() == best.seconds());
  CHECK(found.proven());
  const SearchCounts& c = found.counts;
  CHECK(c.considered == c.refused + c.too_large + c.pruned + c.simulated + c.no_memory + c.left);
  CHECK(c.considered - c.refused == static_cast<std::int64_t>(all.size()));
  CHECK(c.simulated < static_cast<std::int64_t>(all.size() / 2));
  // Without simulations it says that nothing is proven.
  SearchLimits few = limits;
  few.simulations = 0;
  const SearchOutcome cut = search(axes, base, few, simulate, {});
  CHECK(cut.counts.left > 0);
  CHECK(!cut.proven());
  CHECK(cut.least_left.seconds() <= best.seconds());
}

namespace {

/// A search where each strategy takes a little more than its bound, and what `change` makes of
/// that.
SearchOutcome changed_search(const std::function<void(StrategyOutcome&, int)>& change) {
  const SearchBase base = base_of(kDense);
  Axes axes = axes_of(base, {4});
  for (const char* only : {"recompute=none", "bucket=100MiB", "context=1", "schedule=1f1b"})
    restrict_axis(axes, only);
  int number = 0;
  const auto simulate = [&](const std::vector<TriedStrategy>& batch) {
    std::vector<std::optional<StrategyOutcome>> found;
    for (const TriedStrategy& tried : batch) {
      StrategyOutcome outcome{
          .refusal = {}, .failure = {}, .peak = {}, .step = tried.bound.step * 1.001};
      change(outcome, number++);
      found.emplace_back(outcome);
    }
    return found;
  };
  const SearchLimits limits{
      .simulations = 1'000'000, .keep = 1, .capacity = base.scenario.cluster.gpu.memory, .own = {}};
  return search(axes, base, limits, simulate, {});
}

StrategyOutcome failure(bool is_open) {
  return {.refusal = {}, .failure = "it failed", .is_open = is_open, .peak = {}, .fits = false};
}

}  // namespace

TEST_CASE("a strategy that fails does not end a search, and may leave it without a proof") {
  const SearchOutcome whole = changed_search([](StrategyOutcome&, int) {});
  CHECK(whole.proven());
  CHECK(whole.counts.failed == 0);
  for (const bool is_open : {false, true}) {
    CAPTURE(is_open);
    const SearchOutcome found = changed_search([&](StrategyOutcome& outcome, int number) {
      if (number == 0) outcome = failure(is_open);
    });
    REQUIRE(!found.ranked.empty());
    CHECK(found.counts.failed == 1);
    REQUIRE(found.failed.has_value());
    CHECK(found.failed->strategy == whole.ranked.front().strategy);
    CHECK(found.failed->outcome.failure == "it failed");
    CHECK(found.counts.open == (is_open ? 1 : 0));
    CHECK(found.proven() == !is_open);
    const SearchCounts& c = found.counts;
    CHECK(c.considered ==
          c.refused + c.too_large + c.pruned + c.simulated + c.no_memory + c.failed + c.left);
  }
  const SearchOutcome none =
      changed_search([](StrategyOutcome& outcome, int) { outcome = failure(true); });
  CHECK(none.ranked.empty());
  CHECK(none.counts.failed > 1);
  CHECK(!none.proven());
}

TEST_CASE("a step below its bound leaves a search without a proof") {
  const SearchOutcome found = changed_search([](StrategyOutcome& outcome, int number) {
    if (number == 0) outcome.step = outcome.step * 0.99;
  });
  CHECK(found.counts.below_bound == 1);
  CHECK(!found.proven());
}

TEST_CASE("a search that is interrupted while it bounds keeps what is known") {
  const SearchBase base = base_of(kDense);
  int asked = 0;
  const SearchLimits limits{.simulations = 1'000'000,
                            .interrupted = [&] { return ++asked > 0; },
                            .keep = 1,
                            .capacity = base.scenario.cluster.gpu.memory,
                            .own = {}};
  const auto simulate = [](const std::vector<TriedStrategy>&) {
    FAIL("it simulates after an interrupt");
    return std::vector<std::optional<StrategyOutcome>>{};
  };
  const SearchOutcome found = search(axes_of(base, {4}), base, limits, simulate, {});
  CHECK(found.interrupted());
  CHECK(!found.proven());
  CHECK(!found.is_whole);
}

TEST_CASE("layers are dealt out evenly, or with one less at the ends") {
  CHECK(dealt_layers(8, 4) == std::vector<std::int64_t>{2, 2, 2, 2});
  CHECK(dealt_layers(7, 4) == std::vector<std::int64_t>{2, 2, 2, 1});
  // Dubey et al. 2024 (arXiv 2407.21783), section 3.3.2: one layer less on the first and last stage
  CHECK(dealt_layers(6, 4) == std::vector<std::int64_t>{1, 2, 2, 1});
  CHECK(dealt_layers(5, 4).empty());
  CHECK(dealt_layers(3, 4).empty());
}

TEST_CASE("a size is on the front unless another one is as good in all and better in something") {
  const std::vector<SizeCosts> sizes{{8, 10, 80}, {16, 5, 80}, {32, 5, 160}, {64, 2, 128}};
  CHECK(on_pareto_front(sizes) == std::vector<bool>{true, true, false, true});
  CHECK(on_pareto_front({{8, 10, 80}, {8, 10, 80}}) == std::vector<bool>{true, true});
  CHECK(on_pareto_front({}).empty());
}
