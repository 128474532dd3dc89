// Results that are read again, and files that are none.
#include "sim/command/answer/read_result.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.hpp"
#include "sim/report/run/run_report.hpp"
#include "tests/unit/report/sample_metrics.hpp"

using namespace stepsim;
using Json = nlohmann::ordered_json;

namespace {

std::shared_ptr<const Source> source_of(const std::string& text,
                                        const std::string& name = "result.json") {
  return std::make_shared<Source>(Source{name, "", text});
}

ResultFacts read(const Json& json) { return read_result(source_of(json.dump(2))); }

std::string error_of(const std::string& text) {
  try {
    read_result(source_of(text));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

Metrics sound_metrics() {
  Metrics m = sample_metrics();
  m.step_time = Seconds{0};
  for (const double seconds : m.breakdown) m.step_time += Seconds{seconds};
  return m;
}

Json sample() { return Json::parse(to_json(sound_metrics(), sample_expectations(), nullptr)); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a result is read as it was written") {
  Metrics m = sound_metrics();
  m.cost = RunCost{.per_hour = 2048, .per_million_tokens = 0.5, .per_million_samples = 900};
  m.provenance.scenario = "model:\n  name: \"a\\\\b\"\n";
  m.replicas = Replicas{.asked = 3,
                        .steps = {27_s, 28_s, 29_s},
                        .statistics = statistics_of({27_s, 28_s, 29_s}),
                        .median = 1};
  const ResultFacts r = read_result(source_of(to_json(m, {}, nullptr)));
  CHECK(r.scenario == "gpt3-175b");
  CHECK(r.step_time.seconds() == doctest::Approx(m.step_time.seconds()).epsilon(1e-11));
  CHECK(r.tokens_per_s == doctest::Approx(m.tokens_per_s));
  CHECK(r.gpus == 1024);
  CHECK(r.mfu == doctest::Approx(m.mfu));
  REQUIRE(r.causes.size() == kCauses);
  CHECK(r.causes[0].first == "forward");
  CHECK(r.causes[0].second.seconds() == doctest::Approx(5.10));
  REQUIRE(r.memory);
  CHECK(r.memory->peak == m.memory.worst().total());
  CHECK(r.memory->fits);
  REQUIRE(r.cost);
  CHECK(r.cost->per_million_tokens == doctest::Approx(0.5));
  CHECK(r.replicas == std::vector<Seconds>{27_s, 28_s, 29_s});
  CHECK(r.mean() == 28_s);
  REQUIRE(r.expected_error);
  CHECK(r.expected_error->median == doctest::Approx(0.041));
  CHECK(r.version == "0.1.0");
  CHECK(r.yaml == m.provenance.scenario);
  CHECK(r.hashes.front() == std::pair<std::string, std::string>{"scenario", "9f2c"});
}

TEST_CASE("what a run does without is not there") {
  Metrics m = sound_metrics();
  m.has_tokens = false;
  m.memory.stages.clear();
  m.expected_error.reset();
  const ResultFacts r = read_result(source_of(to_json(m, {}, nullptr)));
  CHECK_FALSE(r.tokens_per_s);
  CHECK_FALSE(r.memory);
  CHECK_FALSE(r.cost);
  CHECK_FALSE(r.expected_error);
  CHECK(r.yaml.empty());
  CHECK(r.replicas.empty());
  CHECK(r.mean() == r.step_time);
}

TEST_CASE("what is no result is told from one that another version wrote") {
  CHECK(has(error_of("{}"), "result.json:1:1: this is no result of stepsim: it has no 'schema'"));
  CHECK(has(error_of("[1]"), "this is no result of stepsim"));
  CHECK(has(error_of(R"({"schema": "stepsim.result/9"})"),
            "this is a 'stepsim.result/9', and this version reads stepsim.result/1"));
  CHECK(has(error_of(R"({"schema": "stepsim.explanation/1"})"),
            "this is a 'stepsim.explanation/1', not a result"));
  CHECK(has(error_of("{}"), "stepsim run SCENARIO --format json"));
  CHECK(has(error_of("{\"schema\": "), "cut off"));
  CHECK(has(error_of("model: gpt2"), "this is no JSON"));
  CHECK(error_of("{\"schema\": \"x\",\n \"a\": -1e400}") ==
        "result.json:2:7: '-1e400' is too large for a number\n   \"a\": -1e400}\n        ^");
}

TEST_CASE("every mistake of a result is said, with its place") {
  Json json = sample();
  json["step_time_s"] = "long";
  json["samples_per_s"] = -1;
  json["memory"]["fits"] = "perhaps";
  json.erase("scenario");
  const std::string error = error_of(json.dump(2));
  CHECK(has(error, "result.json:1:1: 'scenario' is missing here"));
  CHECK(has(error, "'step_time_s' is not a number"));
  CHECK(has(error, "'samples_per_s' is not greater than 0"));
  CHECK(has(error, "'fits' is not true or false"));
  CHECK(has(error, "\"step_time_s\": \"long\""));  // the line itself
}

TEST_CASE("causes that do not sum to the step are no breakdown of it") {
  Json json = sample();
  json["breakdown_s"]["forward"] = 7.5;
  CHECK(has(error_of(json.dump(2)), "the causes sum to"));
}

TEST_CASE("causes of another version are kept by their name") {
  Json json = sample();
  json["breakdown_s"]["meditation"] = 0.0;
  CHECK(read(json).causes.back().first == "meditation");
}

TEST_CASE("files are told apart by their name, or by what is in them") {
  CHECK(is_meant_as_result(*source_of("model: gpt2", "old.json")));
  CHECK(is_meant_as_result(*source_of("\n {\"schema\": 1}", "/dev/fd/63")));
  CHECK_FALSE(is_meant_as_result(*source_of("{model: gpt2}", "s.yaml")));
  CHECK_FALSE(is_meant_as_result(*source_of("model: gpt2", "s.yaml")));
}
