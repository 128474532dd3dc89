// The result as JSON and CSV, read back.
#include <clocale>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/report/run/run_report.hpp"
#include "tests/unit/report/sample_metrics.hpp"

using namespace stepsim;
using Json = nlohmann::ordered_json;

namespace {

Json parsed(const Metrics& metrics, const RunStats* stats = nullptr) {
  return Json::parse(to_json(metrics, sample_expectations(), stats));
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

/// The cells of a line without quotes in it.
std::vector<std::string> cells(std::string line) {
  REQUIRE(line.back() == '\n');
  line.back() = ',';
  std::vector<std::string> result;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) result.push_back(cell);
  return result;
}

}  // namespace

TEST_CASE("the keys of a result are a schema: none comes or goes with the numbers") {
  const std::vector<std::string> schema{"schema",
                                        "scenario",
                                        "model",
                                        "gpu",
                                        "gpus",
                                        "nodes",
                                        "split",
                                        "attention",
                                        "interrupted",
                                        "step_time_s",
                                        "steps_s",
                                        "chaos",
                                        "tokens_per_s",
                                        "samples_per_s",
                                        "tokens_per_s_per_gpu",
                                        "model_tflops_per_gpu",
                                        "mfu",
                                        "hfu",
                                        "flop_convention",
                                        "breakdown_s",
                                        "critical_path_s",
                                        "bubble_fraction",
                                        "data_stall_fraction",
                                        "communication",
                                        "overlap_efficiency",
                                        "memory",
                                        "replicas",
                                        "checkpoint",
                                        "long_run",
                                        "outside_calibrated_range",
                                        "faults",
                                        "cost",
                                        "energy",
                                        "verdict",
                                        "limits",
                                        "expected_error",
                                        "expect",
                                        "assumed",
                                        "engine",
                                        "provenance"};
  CHECK(keys(parsed(sample_metrics())) == schema);
  CHECK(keys(parsed(Metrics{})) == schema);
  CHECK(parsed(Metrics{}).at("schema") == "stepsim.result/1");
  CHECK(keys(parsed(sample_metrics()).at("breakdown_s")).size() == kCauses);
}

TEST_CASE("a result says in base units what the metrics say") {
  const Json json = parsed(sample_metrics());
  CHECK(json.at("step_time_s") == 27.45);
  CHECK(json.at("steps_s") == Json{27.4, 27.5});
  CHECK(json.at("breakdown_s").at("exposed_tensor") == 4.1);
  CHECK(json.at("communication").at("data") ==
        Json{{"bytes", 5583457485}, {"busy_s", 0.93}, {"exposed_s", 0.84}});
  CHECK(json.at("memory").at("peak_bytes") == 59995324416);
  CHECK(json.at("memory").at("capacity_bytes") == 85899345920);
  CHECK(json.at("memory").at("fits") == true);
  CHECK(json.at("memory").at("worst_stage") == 0);
  CHECK(json.at("memory").at("allocated_bytes") == 59995324416);
  CHECK(json.at("memory").at("peak_time_s") == 4.2);
  CHECK(json.at("memory").at("stages").at(0).at("peak") == Json{{"pass", "backward"},
                                                                {"micro_batch", 3},
                                                                {"chunk", 0},
                                                                {"block", "layer"},
                                                                {"op", "mlp down"}});
  CHECK(json.at("memory").at("stages").at(1).at("categories_bytes").at("activations") ==
        20669530112);
  CHECK(json.at("expect").at(1) ==
        Json{{"text", "mfu >= 50 %"}, {"actual", "44.2 %"}, {"holds", false}});
  CHECK(json.at("provenance") == Json{{"version", "0.1.0"},
                                      {"hashes", {{"scenario", "9f2c"}, {"gpu", "77aa"}}},
                                      {"scenario", nullptr}});
}

TEST_CASE("the error to expect has its band in seconds, and nulls where no run is like this one") {
  Metrics m = sample_metrics();
  CHECK(parsed(m).at("expected_error") ==
        Json{{"rows", 112},
             {"known_rows", 6},
             {"median_ape", 0.041},
             {"p90_ape", 0.09},
             {"bias", -0.01},
             {"step_time_80_percent_s", {26.1428571429, 30.5}},  // 27.45 / 1.05, 27.45 / 0.9
             {"unseen", Json::array()},
             {"traits", {"a100", "dense transformer", "16-bit"}},
             {"suites", {"bloom", "korthikanti", "vtrain_multi"}},
             {"worst_suite", "bloom"},
             {"worst_suite_mape", 0.162}});
  m.expected_error = ExpectedError{.traits = {"a100"}, .known = 2};
  const Json none = parsed(m).at("expected_error");
  CHECK(none.at("rows") == 0);
  CHECK(none.at("known_rows") == 2);
  for (const char* key : {"median_ape", "p90_ape", "bias", "step_time_80_percent_s", "worst_suite",
                          "worst_suite_mape"})
    CHECK(none.at(key).is_null());
  CHECK(parsed(Metrics{}).at("expected_error").is_null());
}

TEST_CASE("the parts of a written breakdown sum to the written step") {
  const Json json = parsed(sample_metrics());
  double sum = 0;
  for (const auto& [cause, seconds] : json.at("breakdown_s").items()) sum += seconds.get<double>();
  CHECK(sum == doctest::Approx(27.45).epsilon(1e-9));
}

TEST_CASE("what does not apply is null, and so is what is not a number") {
  Metrics m = sample_metrics();
  m.has_tokens = false;
  m.mfu = std::numeric_limits<double>::quiet_NaN();
  m.hfu = std::numeric_limits<double>::infinity();
  m.memory.stages.clear();
  const Json json = parsed(m);
  for (const char* key : {"tokens_per_s", "tokens_per_s_per_gpu", "mfu", "hfu", "memory"})
    CHECK(json.at(key).is_null());
}

TEST_CASE("replicas and stragglers are in the result where there are any") {
  Metrics m = sample_metrics();
  CHECK(parsed(m).at("replicas").is_null());
  m.replicas = Replicas{.asked = 4, .steps = {1_s, 2_s, 3_s}, .median = 1};
  m.replicas->statistics = statistics_of(m.replicas->steps);
  m.stragglers = {{.ranks = {5, 13}, .stage = 1, .late = 50_ms, .stall = 50_ms}};
  m.without_stragglers = 27_s;
  m.fault_costs = {{"slow_gpus", "slow GPUs", 26_s}};
  const Json replicas = parsed(m).at("replicas");
  CHECK(replicas.at("count") == 3);
  CHECK(replicas.at("asked") == 4);
  CHECK(replicas.at("mean_s") == 2);
  CHECK(replicas.at("sigma_s") == 1);
  CHECK(replicas.at("p95_s") == 2.9);
  CHECK(replicas.at("median_replica") == 1);
  CHECK(replicas.at("steps_s") == Json{1.0, 2.0, 3.0});
  CHECK(parsed(m).at("faults") == Json{{"step_without_s", {{"slow_gpus", 26.0}}},
                                       {"stragglers",
                                        {{{"ranks", {5, 13}},
                                          {"stage", 1},
                                          {"late_s", 0.05},
                                          {"stall_s", 0.05},
                                          {"factor", 1.0}}}},
                                       {"step_without_stragglers_s", 27.0}});
  CHECK(csv_row(m).find(",3,2,2.48413771175,2,2.9,1,3,") != std::string::npos);
}

TEST_CASE("wall time is in the result only when it was asked for") {
  const RunStats stats{
      .wall_s = 0.25, .peak_rss_bytes = 1e8, .stages_s = {{"load", 0.01}, {"simulate", 0.2}}};
  CHECK_FALSE(parsed(sample_metrics()).at("engine").contains("wall_s"));
  const Json engine = parsed(sample_metrics(), &stats).at("engine");
  CHECK(engine.at("events") == 125412);
  CHECK(engine.at("wall_s") == 0.25);
  CHECK(engine.at("peak_rss_bytes") == 100000000);
  CHECK(engine.at("stages_s") == Json{{"load", 0.01}, {"simulate", 0.2}});
}

TEST_CASE("rounding noise does not reach the text") {
  Metrics m = sample_metrics();
  m.step_time = Seconds{0.1 + 0.2};
  CHECK(to_json(m, {}, nullptr).find("\"step_time_s\": 0.3,") != std::string::npos);
}

TEST_CASE("a result ends with one newline and survives a name that is not UTF-8") {
  Metrics m = sample_metrics();
  m.scenario = "caf\xe9";
  const std::string text = to_json(m, {}, nullptr);
  CHECK(text.ends_with("}\n"));
  CHECK(Json::parse(text).at("scenario") == "caf\xef\xbf\xbd");
}

TEST_CASE("a CSV row has a cell for each column of the header, whatever the run") {
  Metrics m = sample_metrics();
  m.split = "tensor 8";
  const auto header = cells(csv_header());
  const auto row = cells(csv_row(m));
  CHECK(row.size() == header.size());
  CHECK(cells(csv_row(Metrics{})).size() == header.size());
  const auto cell = [&](const std::string& column) {
    return row.at(
        static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin()));
  };
  CHECK(cell("scenario") == "gpt3-175b");
  CHECK(cell("step_time_s") == "27.45");
  CHECK(cell("exposed_data_s") == "0.84");
  CHECK(cell("peak_memory_bytes") == "59995324416");
  CHECK(cell("data_communication_busy_s") == "0.93");
  CHECK(cell("fits") == "true");
  CHECK(to_csv(m) == csv_header() + csv_row(m));
}

TEST_CASE("a CSV cell with a comma or a quote is quoted") {
  Metrics m;
  m.scenario = "a \"b\"";
  m.split = "tensor 8, data 2";
  CHECK(csv_row(m).find("\"a \"\"b\"\"\",") == 0);
  CHECK(csv_row(m).find(",\"tensor 8, data 2\",") != std::string::npos);
}

TEST_CASE("CSV leaves cells without a value empty") {
  Metrics m = sample_metrics();
  m.split = "data 2";
  m.has_tokens = false;
  m.mfu = std::numeric_limits<double>::quiet_NaN();
  CHECK(csv_row(m).find(",data 2,27.45,,55.956,,138,,0.567,") != std::string::npos);
}
