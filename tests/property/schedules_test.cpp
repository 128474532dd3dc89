// Plans of every pipeline schedule: folded and unfolded runs take equally long, and equal the
// longest path where nothing contends.
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/schedule.hpp"
#include "tests/property/oracle.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kExact = 1e-9;

/// A transformer with tensor, data and pipeline parallel ranks, input and labels, uneven parts.
Scenario scenario_with(const Schedule& schedule, int stages, const std::string& more) {
  const int chunks = schedule.needs.least_chunks;
  const int parts = stages * chunks / schedule.needs.copies;
  std::string layers = "3";
  for (int part = 1; part < parts; ++part) layers += part % 2 == 0 ? ", 2" : ", 1";
  int sum = 3;
  for (int part = 1; part < parts; ++part) sum += part % 2 == 0 ? 2 : 1;
  const std::string text =
      fmt::format(R"(
cluster:
  {{name: c, gpu: a100-80, nodes: {0}, gpus_per_node: 4, intra_node: nvlink3,
   inter_node: {{nics_per_node: 4, bandwidth: 100 Gbit/s, latency: 5 us}}}}
model: {{name: t, layers: {1}, hidden: 512, heads: 4, vocabulary: 4000, tied_embeddings: false}}
training: {{global_batch: {2}, sequence_length: 256, precision: bf16, recompute: selective}}
parallelism:
  tensor: 2
  pipeline: {{stages: {0}, schedule: {3}, chunks: {4}, layers: [{5}], overlap_p2p: true}}
{6}
data: {{sample_size: 100 KB, workers: 1, decode: 50 us}}
run: {{steps: 2, warmup: 1}}
)",
                  stages, sum, 2 * 2 * stages, schedule.name, chunks, layers, more);
  return parse_scenario(text, "schedules.yaml", Library{{source_folder()}}, {},
                        {known_schedules(), {}, {}, {}, {}});
}

template <class Check>
void for_all_schedules(Check check) {
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    for (const char* more :
         {"  data: {sharding: ddp}", "  data: {sharding: zero1}\n  sequence: true",
          "  data: {sharding: ddp, overlap: false}\n  overlap_tensor: false"}) {
      for (const int stages : {2, 4}) {
        CAPTURE(schedule->name);
        CAPTURE(more);
        CAPTURE(stages);
        check(scenario_with(*schedule, stages, more));
      }
    }
  }
}

}  // namespace

TEST_CASE("every schedule takes equally long folded and unfolded") {
  for_all_schedules([](const Scenario& scenario) {
    const Plan plan = make_plan(scenario, build(scenario));
    const Simulation folded = simulate(plan, {.fold = true});
    const Simulation unfolded = simulate(plan, {.fold = false});
    for (std::size_t step = 0; step < unfolded.timeline.step_ends.size(); ++step) {
      const double expected = unfolded.timeline.step_ends[step];
      CHECK(std::abs(folded.timeline.step_ends[step] - expected) <= kExact * expected);
    }
    CHECK(folded.stats.ranks_simulated < folded.stats.ranks_total);
  });
}

TEST_CASE("no schedule is faster than the longest path") {
  for_all_schedules([](const Scenario& scenario) {
    Plan plan = make_plan(scenario, build(scenario));
    for (Operation& operation : plan.operations) operation.held_sms = operation.memory_share = 0;
    const std::vector<double> expected = Oracle::step_ends(plan);
    const std::vector<double> ends = simulate(plan).timeline.step_ends;
    for (std::size_t step = 0; step < expected.size(); ++step)
      CHECK(ends[step] >= expected[step] * (1 - kExact));
  });
}

namespace {

/// Experts whose exchanges pairs of passes hide, by NCCL and by DeepEP, with layers without
/// experts.
std::vector<Scenario> with_pairs() {
  std::vector<Scenario> scenarios;
  for (const char* pipeline :
       {"stages: 4, schedule: dualpipe, chunks: 2, overlap_p2p: true",
        "stages: 2, schedule: interleaved, chunks: 2",
        "stages: 2, schedule: interleaved, chunks: 2, overlap_p2p: false", "stages: 1"}) {
    for (const char* dispatcher : {"all_to_all", "deepep, fp8_dispatch: true"}) {
      for (const char* recompute : {"none", "full"}) {
        const std::string text = fmt::format(R"(
cluster:
  {{name: c, gpu: h100, nodes: 8, gpus_per_node: 4, intra_node: nvlink4,
   inter_node: {{nics_per_node: 4, bandwidth: 100 Gbit/s, latency: 5 us}}}}
model: {{name: t, layers: 8, hidden: 1024, heads: 8, vocabulary: 4000, tied_embeddings: false,
  bias: false, experts: {{count: 16, top_k: 2, ffn: 1024, shared_ffn: 512, dense_layers: 3, groups: 2, top_groups: 1}}}}
training: {{global_batch: 256, sequence_length: 1024, precision: bf16, recompute: {2}}}
parallelism:
  pipeline: {{{0}}}
  expert: {{degree: 8, dispatcher: {1}, overlap: true}}
  data: {{sharding: zero1}}
run: {{steps: 2, warmup: 1}}
)",
                                             pipeline, dispatcher, recompute);
        scenarios.push_back(parse_scenario(text, "pairs.yaml", Library{{source_folder()}}, {},
                                           {known_schedules(), {}, {}, {}, {}}));
      }
    }
  }
  return scenarios;
}

}  // namespace

TEST_CASE("pairs of passes take equally long folded and unfolded, and no less than their path") {
  for (Scenario& scenario : with_pairs()) {
    CAPTURE(scenario.parallelism.pipeline.schedule);
    CAPTURE(scenario.parallelism.pipeline.overlap_p2p);
    Plan plan = make_plan(scenario, build(scenario));
    const auto folded = simulate(plan, {.fold = true}).timeline.step_ends;
    const auto unfolded = simulate(plan, {.fold = false}).timeline.step_ends;
    for (std::size_t step = 0; step < unfolded.size(); ++step)
      CHECK(std::abs(folded[step] - unfolded[step]) <= kExact * unfolded[step]);
    for (Operation& operation : plan.operations)
      operation.held_sms = operation.reserved_sms = operation.memory_share = 0;
    const std::vector<double> path = Oracle::step_ends(plan);
    const std::vector<double> ends = simulate(plan).timeline.step_ends;
    for (std::size_t step = 0; step < path.size(); ++step)
      CHECK(ends[step] >= path[step] * (1 - kExact));
  }
}

TEST_CASE("holders of copies gather parameters together, whichever micro-batches they begin with") {
  for (const char* gather :
       {"overlap_param_gather: true", "overlap_param_gather: true, align_param_gather: true",
        "overlap_param_gather: true, align_param_gather: false"}) {
    CAPTURE(gather);
    const Scenario scenario =
        scenario_with(*Registry<Schedule>::find("dualpipe"), 4,
                      fmt::format("  data: {{sharding: zero1, {}, bucket: 1 MiB}}", gather));
    const Plan plan = make_plan(scenario, build(scenario));
    CHECK_NOTHROW(simulate(plan));
    double gathered = -1;
    for (const Program& program : plan.programs) {
      double bytes = 0;
      for (const Task& task : program.tasks) {
        if (task.kind == TaskKind::communicate && task.channel == Channel::data_gather)
          bytes += plan.operations[task.work].bytes.bytes();
      }
      if (program.stage == 0 || program.stage == 3) {
        if (gathered >= 0) CHECK(bytes == doctest::Approx(gathered));
        gathered = bytes;
      }
    }
    CHECK(gathered > 0);
  }
}
