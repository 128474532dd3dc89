// What must hold between two answers of the program, whatever the scenario: of random scenarios, by
// the command line.
//
// More work is never shorter. Better hardware is never slower, but for two things that a report
// says: NCCL may open more channels, whose SMs compute then lacks (contention), and where transfers
// meet on links, one that comes earlier may meet another one that it had missed.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "tests/property/draws.hpp"
#include "tests/property/random_faults.hpp"
#include "tests/temporary_folder.hpp"

namespace {

using Json = nlohmann::json;
using namespace stepsim;

constexpr double kExact = 1e-9;
// Where transfers meet: none of 300 scenarios took longer by more than this share.
constexpr double kMeeting = 0.05;

Json answer_of(const std::string& file, const std::string& options = "") {
  const std::string command =
      fmt::format("{} run '{}' --format json {}", STEPSIM_PROGRAM, file, options);
  FILE* out = popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, out)) > 0;)
    text.append(buffer, got);
  const int status = pclose(out);
  CAPTURE(command);
  CAPTURE(text);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return Json::parse(text);
}

double step_of(const Json& answer) { return answer.at("step_time_s").get<double>(); }

double contention_of(const Json& answer) {
  return answer.at("breakdown_s").at("contention").get<double>();
}

void check_not_slower(const Json& before, const Json& after) {
  double allowed = kExact * step_of(before);
  allowed += std::max(contention_of(after) - contention_of(before), 0.0);
  if (after.at("engine").at("transfers") > 0) allowed += kMeeting * step_of(before);
  CHECK(step_of(after) <= step_of(before) + allowed);
}

std::string twice(const char* key, double value, const char* unit = "") {
  return fmt::format("--set {}={}{}", key, 2 * value, unit);
}

}  // namespace

TEST_CASE("answers for random scenarios fit together") {
  const DrawSeeds draws = draw_seeds(40);
  const TemporaryFolder folder;
  for (std::uint64_t seed = draws.first; seed < draws.first + draws.count; ++seed) {
    const RandomScenario random(seed, true);
    CAPTURE(seed);
    CAPTURE(random.text());
    const std::string file = folder.file("random.yaml", random.text());
    const Scenario scenario = random.scenario();
    const Json answer = answer_of(file);
    CHECK(step_of(answer) > 0);
    CHECK(answer.at("mfu") <= answer.at("hfu"));
    CHECK(answer.at("hfu") <= 1.0);
    double causes = 0;
    for (const auto& [cause, seconds] : answer.at("breakdown_s").items())
      causes += seconds.get<double>();
    CHECK(causes == doctest::Approx(step_of(answer)).epsilon(1e-9));

    const Json unfolded = answer_of(file, "--fold off");
    CHECK(unfolded.at("steps_s") == answer.at("steps_s"));

    // One change for each scenario, to keep it short.
    switch (seed % 4) {
      case 0: {
        const double rate = scenario.cluster.inter_node->bandwidth.bytes_per_second();
        check_not_slower(
            answer, answer_of(file, twice("cluster.inter_node.bandwidth", rate / 1e9, "GB/s")));
        break;
      }
      case 1: {
        const double latency = scenario.cluster.inter_node->latency.seconds();
        check_not_slower(answer,
                         answer_of(file, fmt::format("--set cluster.inter_node.latency={}us",
                                                     latency * 1e6 / 2)));
        break;
      }
      case 2: {
        const double batch = static_cast<double>(scenario.training.global_batch);
        CHECK(step_of(answer_of(file, twice("training.global_batch", batch))) > step_of(answer));
        break;
      }
      case 3: {
        const double launch = scenario.host.launch.seconds();
        check_not_slower(answer,
                         answer_of(file, fmt::format("--set host.launch={}us", launch * 1e6 / 2)));
        break;
      }
    }
  }
}
