// A search of the whole space against searches of parts of it, with as many simulations each: it is
// never worse by what a prediction can tell. Counts simulations, not seconds.
#include <cstdlib>
#include <limits>

#include <doctest/doctest.h>

#include "sim/command/answer/counterfactuals.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/search/best_first.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr int kSimulations = 32;
/// Steps within 1 % of each other are as good (docs/search.md). Of 36 pairs one is 1.2 % apart.
constexpr double kAsGood = 1.013;
constexpr int kUsualJobs = 3;  // the others are among the long tests

std::string job(const std::string& model, const std::string& cluster, int nodes, int batch,
                const std::string& framework = "") {
  return (framework.empty() ? "" : "framework: " + framework + "\n") + "model: " + model +
         "\ncluster: {base: " + cluster + ", nodes: " + std::to_string(nodes) +
         "}\ntraining: {sequence_length: 4096, global_batch: " + std::to_string(batch) + "}\n";
}

const std::vector<std::string> kJobs = {
    job("llama2-13b", "dgx-h100", 4, 128),
    job("llama3-70b", "dgx-h100", 8, 256, "megatron"),
    job("llama3-8b", "dgx-a100-80", 2, 64, "pytorch-fsdp2"),
    job("llama3-70b", "dgx-h100", 8, 128),
    job("mixtral-8x7b", "dgx-h100", 4, 128),
    job("llama2-70b", "dgx-a100-80", 16, 256),
    job("llama2-13b", "dgx-a100-80", 8, 512, "deepspeed"),
    job("qwen2.5-72b", "dgx-h200", 8, 256),
    job("llama3-8b", "dgx-h100", 16, 1024),
    job("mistral-7b", "dgx-b200", 2, 128),
    job("llama2-13b", "dgx-a100-40", 8, 256),
    job("llama2-7b", "dgx-h100", 4, 256, "megatron"),
};

const std::vector<std::vector<std::string>> kParts = {
    {"sharding=zero1,zero3", "schedule=1f1b,interleaved"},
    {"context=1", "recompute=none,full", "bucket=100MiB"},
    {"tensor=1,2,4,8", "micro_batch=1,2"},
};

std::string simulated(const SearchBase& base, const Strategy& strategy) {
  Scenario scenario = base.scenario;
  set_strategy(scenario, strategy, base);
  const OpGraph graph = build(scenario);
  const Memory memory{memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{}, 1,
                      scenario.run.memory_margin};
  const double peak = memory.worst().total().bytes();
  try {
    return text_of(
        {memory.leaves_margin() ? step_of(make_plan(scenario, graph)).seconds() : 0, peak});
  } catch (const SimulationError&) {
    return text_of({0, peak});
  }
}

/// Seconds of the best step; nothing that fits: infinite.
double best_of(const SearchBase& base, const std::vector<std::string>& part) {
  Axes axes = axes_of(base, {base.scenario.cluster.gpus()});
  for (const std::string& only : part) restrict_axis(axes, only);
  const auto simulate = [&](const std::vector<TriedStrategy>& batch) {
    const auto answers = run_forked(static_cast<int>(batch.size()), 2, [&](int i) {
      return simulated(base, batch[static_cast<std::size_t>(i)].strategy);
    });
    std::vector<std::optional<StrategyOutcome>> outcomes;
    for (const auto& answer : answers) {
      const std::vector<double> numbers = numbers_of(answer.value());
      outcomes.push_back(StrategyOutcome{.refusal = {},
                                         .failure = {},
                                         .peak = Bytes{numbers.at(1)},
                                         .fits = numbers.at(0) > 0,
                                         .step = Seconds{numbers.at(0)}});
    }
    return outcomes;
  };
  const SearchLimits limits{
      .simulations = kSimulations, .keep = 1, .capacity = base.scenario.usable_memory(), .own = {}};
  const SearchOutcome found = search(axes, base, limits, simulate, {});
  return found.ranked.empty() ? std::numeric_limits<double>::infinity()
                              : found.ranked.front().outcome.step.seconds();
}

}  // namespace

TEST_CASE("the whole space is never worse than a part of it") {
  const bool all = std::getenv("STEPSIM_DRAWS") != nullptr;
  const std::size_t jobs = all ? kJobs.size() : kUsualJobs;
  for (std::size_t i = 0; i < jobs; ++i) {
    CAPTURE(kJobs[i]);
    const SearchBase base = search_base(
        parse_scenario(kJobs[i], "test.yaml", Library{{source_folder()}}, {}, known_names()), {});
    const double whole = best_of(base, {});
    REQUIRE(whole < 1e9);
    for (const auto& part : kParts) {
      CAPTURE(part.front());
      const double partial = best_of(base, part);
      CHECK(whole <= partial * kAsGood);
      if (std::getenv("STEPSIM_SAY") != nullptr)
        MESSAGE(whole << " s, " << part.front() << ": " << partial << " s");
    }
  }
}
