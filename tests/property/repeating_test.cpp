// Random scenarios whose steps have the same tasks: when a step leaves what the one before it left,
// all that follow take as long.
#include "sim/timeline/repeating.hpp"

#include <cmath>
#include <filesystem>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "sim/plan/steps_alike.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

/// The share of a step up to which steps are equal: dates are rounded, in each step in another way,
/// and transfers that meet amplify it.
constexpr double kExact = 1e-6;
constexpr int kScenarios = 200;
constexpr int kMostGpus = 1100;  // plans of more take long

/// As the scenario, but that nothing runs ahead of a step, and nothing comes every so many steps.
Scenario with_like_steps(Scenario scenario) {
  scenario.data.reset();
  scenario.checkpoint.reset();
  const Host host = scenario.host;
  scenario.host = {.mode = host.mode, .launch = host.launch, .queue_depth = host.queue_depth};
  return scenario;
}

Timeline run(const RandomScenario& random, Scenario& scenario, int steps) {
  scenario.run.steps = steps;
  return simulate(random.plan(scenario)).timeline;
}

/// What a task is, wherever in the program it stands.
using TaskWords = std::tuple<TaskKind, std::uint32_t, std::uint32_t, std::uint16_t, std::int32_t,
                             Channel, double, double, std::uint8_t>;

std::vector<TaskWords> tasks_of(const Plan& plan, const Program& program, std::uint16_t step) {
  std::vector<TaskWords> tasks;
  for (const Task& task : program.tasks) {
    if (task.step != step) continue;
    // an optimizer has a chain of its own for each step
    const bool is_chain = task.kind == TaskKind::chain;
    tasks.emplace_back(task.kind, task.name, is_chain ? 0 : task.work, task.row, task.micro_batch,
                       task.channel, is_chain ? plan.chains[task.work].compute : task.amount,
                       task.launch_offset, task.needs);
  }
  return tasks;
}

double length(const Timeline& timeline, std::size_t step) {
  return timeline.step_ends[step] - timeline.step_start(step);
}

}  // namespace

TEST_CASE("after a step that repeats the one before it every step is as long") {
  int repeating = 0, other = 0, changing = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(seed);
    CAPTURE(random.text());
    Scenario scenario = with_like_steps(random.scenario());
    REQUIRE(steps_are_alike(scenario));
    const Timeline two = run(random, scenario, 1);
    const Timeline many = run(random, scenario, 5);
    const double period = length(two, 1);
    bool is_even = true;
    for (std::size_t step = 1; step < many.step_ends.size(); ++step)
      is_even &= std::abs(length(many, step) - period) <= kExact * period;
    const bool repeats = last_step_repeats(two);
    if (repeats) CHECK(is_even);
    ++(repeats ? repeating : other);
    changing += is_even ? 0 : 1;
  }
  MESSAGE(repeating << " repeat after two steps, " << other << " not yet, of which " << changing
                    << " go on to change");
  CHECK(repeating > kScenarios / 2);
  CHECK(changing > 0);
}

TEST_CASE("where steps are alike a plan has the same tasks in each but the first") {
  int alike = 0, other = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const Scenario scenario =
        load_scenario(entry.path().string(), {{"run.steps", "2"}, {"run.warmup", "1"}});
    if (scenario.cluster.gpus() > kMostGpus) continue;
    if (!steps_are_alike(scenario)) {
      ++other;
      continue;
    }
    ++alike;
    const Plan plan = make_plan(scenario, build(scenario));
    for (const Program& program : plan.programs)
      CHECK(tasks_of(plan, program, 1) == tasks_of(plan, program, 2));
  }
  CHECK(alike > 5);
  CHECK(other > 5);
}

TEST_CASE("what is random, runs ahead or comes every so many steps makes steps differ") {
  const Scenario plain = with_like_steps(RandomScenario(0, true).scenario());
  REQUIRE(steps_are_alike(plain));
  const auto alike_with = [&plain](auto change) {
    Scenario scenario = plain;
    change(scenario);
    return steps_are_alike(scenario);
  };
  CHECK(!alike_with([](Scenario& s) { s.data.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.checkpoint.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.faults.kernels.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.faults.collectives.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.faults.slow_gpus.emplace_back(); }));
  CHECK(!alike_with([](Scenario& s) { s.faults.slow_links.emplace_back(); }));
  CHECK(!alike_with([](Scenario& s) { s.host.sync.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.host.cpu_work.emplace_back(); }));
  CHECK(!alike_with([](Scenario& s) { s.host.recompilation.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.host.garbage_collection.emplace(); }));
  CHECK(!alike_with([](Scenario& s) { s.parallelism.data.offload_optimizer = true; }));
}

TEST_CASE("a step by itself repeats nothing") {
  Timeline one;
  one.step_ends = {1.0};
  CHECK(!last_step_repeats(one));
}

TEST_CASE("two steps of one rank are compared from the first that the next can feel") {
  RankTimeline rank;
  rank.rows = {{"compute", RowKind::compute},
               {"host", RowKind::host},
               {"data gather", RowKind::communication, Axis::data}};
  const auto span = [](std::uint16_t row, std::uint16_t step, double start, double end) {
    return Span{.arrival = start, .start = start, .end = end, .row = row, .step = step};
  };
  // The first step computes for longer; its gather, which the host does not wait for, is the same.
  rank.spans = {span(0, 0, 0, 5), span(1, 0, 5, 5), span(2, 0, 4, 6),
                span(0, 1, 5, 8), span(1, 1, 8, 8), span(2, 1, 7, 9)};
  Timeline timeline;
  timeline.ranks = {rank};
  timeline.step_ends = {5, 8};
  CHECK(last_step_repeats(timeline));
  SUBCASE("something longer is still under way") {
    timeline.ranks[0].spans[5].end = 9.5;
    CHECK(!last_step_repeats(timeline));
  }
  SUBCASE("something that began earlier is still under way") {
    timeline.ranks[0].spans[5].arrival = 6.5;
    CHECK(!last_step_repeats(timeline));
  }
  SUBCASE("a host that never waits may be anywhere") {
    timeline.ranks[0].rows[1].kind = RowKind::copy;
    CHECK(!last_step_repeats(timeline));
  }
}
