// Whatever the scenario, its answer is whole: causes sum to the step, each report has it, a result is read again, and
// the file of a sweep gives it back. Under the sanitizers this runs all rooms from ops to store.
#include "sim/command/answer/answer.hpp"

#include <memory>
#include <numeric>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/command/answer/read_result.hpp"
#include "sim/command/answer/simulated_point.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/store/sweep_store.hpp"
#include "tests/property/draws.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

/// What is simulated apart, and in another order of summands.
constexpr double kAlike = 1e-9;

double sum_of(const CauseSeconds& causes) {
  return std::accumulate(causes.begin(), causes.end(), 0.0);
}

}  // namespace

TEST_CASE("random scenarios have whole answers, which come back from results and stores") {
  const TemporaryFolder folder;
  SweepStore store(folder.file("answers.db"));
  const DrawSeeds draws = draw_seeds(8);
  SweepAxis axis{.paths = {"run.seed"}, .values = {}, .place = {}};
  for (std::uint64_t i = 0; i < draws.count; ++i)
    axis.values.push_back({{std::to_string(i)}, {}, {}});
  store.choose({.identity = "draws", .axes = {axis}}, true);
  PlanCache cache;
  for (std::uint64_t seed = draws.first; seed < draws.first + draws.count; ++seed) {
    CAPTURE(seed);
    const RandomScenario random(seed, true);
    CAPTURE(random.text());
    const Scenario scenario = random.scenario();
    std::ostringstream notes;
    const Answer answer = answer_of(scenario, Library{}, {.jobs = 1}, notes);
    const Metrics& metrics = answer.metrics;
    const double step = metrics.step_time.seconds();
    CHECK(sum_of(metrics.breakdown) == doctest::Approx(step).epsilon(kAlike));
    CHECK(sum_of(metrics.critical) == doctest::Approx(step).epsilon(kAlike));
    CHECK(sum_of(metrics.all_ranks) == doctest::Approx(step).epsilon(kAlike));
    CHECK(to_table(metrics, answer.outcomes, {}).find("Step time") != std::string::npos);
    CHECK_FALSE(to_csv(metrics).empty());
    const ResultFacts again = read_result(std::make_shared<Source>(
        Source{.name = "result.json", .folder = "", .text = to_json(metrics, {}, nullptr)}));
    CHECK(again.step_time.seconds() == doctest::Approx(step).epsilon(kAlike));

    const Outcome outcome = simulated_point(scenario, cache);
    REQUIRE(outcome.numbers);
    CHECK(outcome.numbers->step.seconds() == doctest::Approx(step).epsilon(kAlike));
    const auto point = static_cast<std::int64_t>(seed - draws.first);
    store.add({.point = point, .outcome = outcome, .scenario = fingerprint_of(scenario)});
    store.flush();
    CHECK(store.point(point).outcome.numbers->step == outcome.numbers->step);
  }
  CHECK(store.count() == static_cast<std::int64_t>(draws.count));
}
