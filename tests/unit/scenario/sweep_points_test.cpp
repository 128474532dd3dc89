// Points of a grid: their numbers, conditions, random parts, and their scenarios.
#include "sim/scenario/sweep/sweep_points.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/sweep/axis_values.hpp"
#include "sim/scenario/sweep/load_sweep.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const std::string kScenario = std::string(source_folder()) + "/scenarios/gpt-22b-8xa100.yaml";

Sweep sweep_of(std::vector<std::string> vary, std::vector<std::string> where = {}) {
  return load_sweep({.path = kScenario,
                     .overrides = {},
                     .vary = std::move(vary),
                     .where = std::move(where),
                     .objective = ""});
}

std::vector<std::int64_t> listed(const Sweep& sweep) {
  Problems problems;
  const PointList points = points_of(sweep, problems);
  problems.throw_if_any();
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < points.count(); ++i) all.push_back(points[i]);
  return all;
}

}  // namespace

TEST_CASE("the last axis moves fastest") {
  const Sweep sweep = sweep_of({"training.micro_batch=1,2", "parallelism.tensor=1,2,4"});
  CHECK(grid_size(sweep.axes) == 6);
  const auto settings = settings_of(sweep.axes, 4);
  REQUIRE(settings.size() == 2);
  CHECK(settings[0] == std::pair<std::string, std::string>("training.micro_batch", "2"));
  CHECK(settings[1] == std::pair<std::string, std::string>("parallelism.tensor", "2"));
  CHECK(places_of(sweep.axes, 4) == std::vector<std::size_t>{1, 1});
}

TEST_CASE("conditions read axes by short and full names, and what the scenario states") {
  const std::vector<std::string> vary{"parallelism.tensor=1,2,4,8",
                                      "parallelism.pipeline.stages=1,2,4"};
  CHECK(listed(sweep_of(vary, {"tensor * pipeline <= 4"})).size() == 6);
  CHECK(listed(sweep_of(vary, {"parallelism.tensor == parallelism.pipeline.stages"})).size() == 3);
  CHECK(listed(sweep_of(vary, {"tensor > 1", "stages == 1"})).size() == 3);
  // The scenario states a micro-batch of 4.
  CHECK(listed(sweep_of(vary, {"tensor == micro_batch"})).size() == 3);
}

TEST_CASE("sizes in conditions are bytes") {
  const Sweep sweep =
      sweep_of({"parallelism.data.bucket=1 MiB, 2 MiB, 4 MiB"}, {"bucket >= 2 * 1048576"});
  CHECK(listed(sweep) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("a random part of the grid is the same for the same seed, and has no point twice") {
  Sweep sweep = sweep_of({"parallelism.data.bucket=1..1000 MiB"});
  sweep.random = RandomPoints{.points = 100, .seed = 1};
  const auto first = listed(sweep);
  CHECK(first.size() == 100);
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK(std::set<std::int64_t>(first.begin(), first.end()).size() == 100);
  CHECK(listed(sweep) == first);
  sweep.random->seed = 2;
  CHECK(listed(sweep) != first);
  sweep.random->points = 5000;
  CHECK(listed(sweep).size() == 1000);
}

TEST_CASE("a point is the scenario with its settings") {
  const Sweep sweep = sweep_of({"training.micro_batch=1,2", "parallelism.tensor=1,2,8"});
  const Scenario scenario = scenario_of(sweep, 5);
  CHECK(scenario.training.micro_batch == 2);
  CHECK(scenario.parallelism.tensor == 8);
  CHECK(scenario.name == "gpt-22b-8xa100");
}

TEST_CASE("values of axes are checked before anything runs, all of them in one go") {
  const auto error_of = [](std::vector<std::string> vary) -> std::string {
    try {
      sweep_of(std::move(vary));
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  const std::string text =
      error_of({"parallelism.data.bucket=25, 3 GB/s", "training.micro_batch=1, x"});
  CHECK(text.find("'25' has no unit, write \"25 MiB\"") != std::string::npos);
  CHECK(text.find("'GB/s' is not a unit of size") != std::string::npos);
  CHECK(text.find("'x' is not an integer") != std::string::npos);
  CHECK(error_of({"parallelism.tensr=1,2"}).find("did you mean 'tensor'?") != std::string::npos);
  CHECK(error_of({"training.micro_batch=1..1000", "parallelism.tensor=1..1000",
                  "training.global_batch=1..1000"})
            .find("1000 x 1000 x 1000 = 1e+09 points") != std::string::npos);
  CHECK(error_of({"training.micro_batch=1", "training.micro_batch=2"}).find("varied twice") !=
        std::string::npos);
}

TEST_CASE("identities tell sweeps apart") {
  const std::string bucket = "parallelism.data.bucket=1 MiB, 2 MiB";
  CHECK(identity_of(sweep_of({bucket})) == identity_of(sweep_of({bucket})));
  CHECK(identity_of(sweep_of({bucket})) !=
        identity_of(sweep_of({"parallelism.data.bucket=1 MiB, 4 MiB"})));
  CHECK(identity_of(sweep_of({bucket})) != identity_of(sweep_of({bucket}, {"bucket > 0"})));
}
