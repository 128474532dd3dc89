// Two results and more, side by side.
#include "sim/report/measure/comparison.hpp"

#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/core/random.hpp"
#include "sim/report/comparison/comparison_report.hpp"

using namespace stepsim;
using Json = nlohmann::ordered_json;

namespace {

Contender made_up(double forward, double backward, double launch_gap, double tokens = 1000) {
  Contender run{.file = "run.yaml"};
  run.keys = {{"host.mode", "eager"}, {"run.steps", "2"}};
  ResultFacts& r = run.result;
  r.scenario = "run";
  r.step_time = Seconds{forward + backward + launch_gap};
  r.tokens_per_s = tokens / r.step_time.seconds();
  r.samples_per_s = *r.tokens_per_s / 100;
  r.gpus = 8;
  r.mfu = r.hfu = 0.1 / r.step_time.seconds();
  r.causes = {{"forward", Seconds{forward}},
              {"backward", Seconds{backward}},
              {"launch_gap", Seconds{launch_gap}}};
  r.memory = {Bytes{4 * 0x1p30}, Bytes{80 * 0x1p30}, true};
  r.verdict = "compute-bound: it is";
  r.version = "1";
  r.hashes = {{"scenario", "aa"}, {"gpu h100", "bb"}};
  return run;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string unwrapped(const std::string& text) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

std::string text_of(const Comparison& comparison) {
  return unwrapped(comparison_text(comparison, {}));
}

std::vector<Seconds> steps_around(double mean, double apart, int count) {
  std::vector<Seconds> steps;
  for (int i = 0; i < count; ++i)
    steps.emplace_back(mean + apart * (i - 0.5 * (count - 1)) / count);
  return steps;
}

}  // namespace

TEST_CASE("causes are in the order of their difference, and sum to that of the steps") {
  const Comparison c = compare({made_up(1, 2, 5), made_up(1.5, 2.1, 1)});
  REQUIRE(c.differences.size() == 1);
  const Difference& d = c.differences[0];
  CHECK(d.scale == 1);
  CHECK(d.fraction() == doctest::Approx(4.6 / 8 - 1));
  REQUIRE(d.causes.size() == 3);
  CHECK(d.causes[0].cause == "launch_gap");
  CHECK(d.causes[0].difference().seconds() == doctest::Approx(-4));
  CHECK(d.causes[1].cause == "forward");
  CHECK(d.causes[2].cause == "backward");
  CHECK(d.of_causes().seconds() == doctest::Approx(4.6 - 8));
}

TEST_CASE("whatever the causes, their differences sum to that of the work") {
  const RandomKey key(7);
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const auto draw = [&](std::uint64_t k) { return key.with(trial).with(k).uniform(); };
    const Comparison c = compare({made_up(draw(0), draw(1), draw(2), 1000),
                                  made_up(draw(3), draw(4), draw(5), 1000 + 500 * draw(6))});
    const Difference& d = c.differences[0];
    CHECK(d.of_causes().seconds() ==
          doctest::Approx((d.now - d.before).seconds()).epsilon(1e-12).scale(1));
  }
}

TEST_CASE("a step on twice as many tokens counts half") {
  const Comparison c = compare({made_up(1, 2, 1, 1000), made_up(2, 4, 1, 2000)});
  const Difference& d = c.differences[0];
  CHECK(d.scale == doctest::Approx(0.5));
  CHECK(d.now.seconds() == doctest::Approx(3.5));
  CHECK(d.of_causes().seconds() == doctest::Approx(-0.5));
  const std::string text = text_of(c);
  CHECK(
      has(text, "B is 12.5 % faster: 3.500 s, not 4.000 s, for as many tokens as a step of A has"));
  CHECK(has(text, "Time for as much work"));
}

TEST_CASE("the sentence says who is faster, by how much and mostly why") {
  const Comparison c = compare({made_up(1, 2, 5), made_up(1.8, 2, 1)});
  CHECK(remarks_on(c)[0].text ==
        "B is 40.0 % faster: 4.800 s a step, not 8.000 s; mostly less waiting for kernel launches "
        "(-4.000 s); but more forward (+0.800 s)");
  const Comparison turned = compare({made_up(1.8, 2, 1), made_up(1, 2, 5)});
  CHECK(has(remarks_on(turned)[0].text, "B is 66.7 % slower"));
}

TEST_CASE("what takes more than twice as long is said so") {
  const Comparison c = compare({made_up(1, 2, 1), made_up(1, 2, 7)});
  CHECK(has(text_of(c), "B takes 2.50 times as long: 10.00 s a step, not 4.00 s"));
}

TEST_CASE("steps on tokens and steps on samples are compared as they are, and that is said") {
  Contender images = made_up(1, 2, 1, 5000);
  images.result.tokens_per_s.reset();
  const Comparison c = compare({made_up(1, 2, 1), images});
  CHECK(c.differences[0].scale == 1);
  CHECK(has(text_of(c), "A trains on tokens, B on samples: steps are compared as they are"));
}

TEST_CASE("the best is one that fits in memory") {
  Contender fast = made_up(1, 1, 1), slow = made_up(1, 2, 2);
  fast.result.memory->fits = false;
  CHECK(answer_table(compare({made_up(1, 2, 1), fast, slow})).rows[0].best == 0);
  CHECK(answer_table(compare({fast, made_up(2, 2, 2)})).rows[0].best == 1);
  slow.result.memory->fits = false;
  CHECK(answer_table(compare({slow, fast})).rows[0].best == 1);  // none fits
}

TEST_CASE("equal answers are said to be equal") {
  const Comparison c = compare({made_up(1, 2, 3), made_up(1, 2, 3)});
  const std::string text = text_of(c);
  CHECK(has(text, "B takes as long as A: 6.000 s a step"));
  CHECK(has(text, "no input differs"));
  CHECK_FALSE(has(text, "causes that hardly differ +"));
}

TEST_CASE("inputs that differ are named, in the order of a scenario's keys") {
  Contender b = made_up(1, 2, 3), c = made_up(1, 2, 3);
  b.keys = {{"training.micro_batch", "4"}, {"host.mode", "graph"}, {"run.steps", "2"}};
  c.keys = {{"host.mode", "eager"}, {"host.launch", "5 us"}, {"run.steps", "2"}};
  const Comparison comparison = compare({made_up(1, 2, 3), b, c});
  const auto& inputs = comparison.inputs;
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0].key == "training.micro_batch");
  CHECK(inputs[0].values == std::vector<std::optional<std::string>>{{}, "4", {}});
  CHECK(inputs[1].key == "host.mode");
  CHECK(inputs[2].key == "host.launch");
}

TEST_CASE("models and clusters of different names are one line each, with the number of nodes") {
  Contender a = made_up(1, 2, 3), b = made_up(1, 2, 3);
  a.keys = {{"model.name", "llama2-7b"}, {"model.layers", "32"}, {"cluster.name", "dgx-a100"},
            {"cluster.gpu", "a100"},     {"cluster.nodes", "1"}, {"host.mode", "eager"}};
  b.keys = {{"model.name", "llama2-7b"}, {"model.layers", "16"}, {"cluster.name", "dgx-h100"},
            {"cluster.gpu", "h100"},     {"cluster.nodes", "2"}, {"host.mode", "graph"}};
  const TextTable table = input_table(compare({a, b}));
  std::vector<std::string> titles;
  for (const TextRow& row : table.rows) titles.push_back(row.title);
  CHECK(titles ==
        std::vector<std::string>{"model.layers", "cluster", "cluster.nodes", "host.mode"});
  CHECK(table.rows[1].cells == std::vector<std::string>{"dgx-a100", "dgx-h100"});
}

TEST_CASE("what differs in models or clusters of one name is shown beside those of other names") {
  const auto on = [](const char* cluster, const char* link, const char* gpu) {
    Contender run = made_up(1, 2, 3);
    run.keys = {{"cluster.name", cluster}, {"cluster.intra_node", link}, {"cluster.gpu", gpu}};
    return run;
  };
  const TextTable table =
      input_table(compare({on("dgx-h100", "nvlink4", "h100"), on("dgx-h100", "nvlink3", "h100"),
                           on("dgx-h200", "nvlink4", "h200")}));
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].title == "cluster");
  CHECK(table.rows[1].title == "cluster.intra_node");
  CHECK(table.rows[1].cells == std::vector<std::string>{"nvlink4", "nvlink3", "nvlink4"});
}

TEST_CASE("versions are told apart to their last letter") {
  Contender a = made_up(1, 2, 3), b = made_up(1, 2, 3);
  a.result.version = "0.10.0-rc1";
  b.result.version = "0.10.0-rc2";
  const TextTable table = input_table(compare({a, b}));
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].cells == std::vector<std::string>{"0.10.0-rc1", "0.10.0-rc2"});
}

TEST_CASE("profiles of one name that are not the same are seen by their hash") {
  Contender b = made_up(1, 2, 3);
  b.result.hashes = {{"scenario", "cc"}, {"gpu h100", "dd"}, {"link nvlink4", "ee"}};
  const Comparison scenarios = compare({made_up(1, 2, 3), b});
  REQUIRE(scenarios.hashes.size() == 1);  // scenarios are told apart by their keys
  CHECK(scenarios.hashes[0].key == "gpu h100");
  b.is_result = true;
  b.keys.clear();
  const Comparison results = compare({made_up(1, 2, 3), b});
  REQUIRE(results.hashes.size() == 2);
  CHECK(results.hashes[0].key == "scenario");
  CHECK(results.inputs.empty());
  CHECK(has(text_of(results), "of B hashes alone are known"));
}

TEST_CASE("what replicas cannot show is said, and what would show") {
  Contender a = made_up(1, 2, 3), b = made_up(1, 2, 3.01);
  a.result.replicas = steps_around(6, 0.5, 20);
  b.result.replicas = steps_around(6.01, 0.5, 20);
  const Comparison c = compare({a, b});
  REQUIRE(c.differences[0].test);
  CHECK(c.differences[0].before.seconds() == doctest::Approx(6));
  const std::string text = text_of(c);
  CHECK(has(text, "no difference that 20 replicas can show: B is 0.2 % slower (p = 0.8"));
  CHECK(has(text, "they would show 2.2 % four times in five"));
  b.result.replicas = steps_around(5.5, 0.5, 30);
  const std::string shown = text_of(compare({a, b}));
  CHECK(has(shown, "B is 8.3 % faster, significant (p < 0.0001, 20 and 30 replicas)"));
  CHECK(has(shown, "Mean of replicas"));
}

TEST_CASE("what does not fit is said, and differences below the error of predictions are") {
  Contender b = made_up(1, 2, 2.9);
  b.result.memory = {Bytes{90 * 0x1p30}, Bytes{80 * 0x1p30}, false};
  b.result.expected_error = {100, 0.05};
  const std::string text = text_of(compare({made_up(1, 2, 3), b}));
  CHECK(has(text, "B does not fit in memory"));
  CHECK(has(text, "B differs from A by less than steps are usually off by (5.0 %"));
  b.result.expected_error = {100, 0.01};
  CHECK_FALSE(has(text_of(compare({made_up(1, 2, 3), b})), "usually off by"));
}

TEST_CASE("of more than two the best is marked, and columns that do not fit follow below") {
  std::vector<Contender> runs;
  for (int i = 0; i < 8; ++i) runs.push_back(made_up(1, 2, 5 - 0.5 * (i % 6)));
  const Comparison c = compare(runs);
  const TextTable table = answer_table(c);
  CHECK(table.rows[0].title == "Step time");
  CHECK(table.rows[0].best == 5);
  std::istringstream lines(comparison_text(c, {}));
  int heads = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(width_of(line) <= 80);
    heads += line.starts_with("Answer") ? 1 : 0;
  }
  CHECK(heads > 1);
}

TEST_CASE("the JSON of a comparison has its numbers") {
  const Json json = Json::parse(comparison_json(compare({made_up(1, 2, 5), made_up(1.5, 2, 1)})));
  CHECK(json["schema"] == "stepsim.comparison/1");
  REQUIRE(json["runs"].size() == 2);
  const Comparison c = compare({made_up(1, 2, 5), made_up(1.5, 2, 1)});
  CHECK(json["runs"][1]["origin"] == origin_of(c, 1));
  REQUIRE(json["remarks"].size() == remarks_on(c).size());
  CHECK(json["remarks"][0]["text"] == json["differences"][0]["sentence"]);
  const Json& difference = json["differences"][0];
  CHECK(difference["label"] == "B");
  CHECK(difference["difference_s"] == doctest::Approx(-3.5));
  CHECK(difference["fraction"] == doctest::Approx(-3.5 / 8));
  CHECK(difference["causes_s"].begin().key() == "launch_gap");
  double sum = 0;
  for (const auto& [cause, seconds] : difference["causes_s"].items()) sum += seconds.get<double>();
  CHECK(sum == doctest::Approx(-3.5));
  CHECK(difference["test"].is_null());
  CHECK(json["baseline"].is_null());
}

TEST_CASE("a baseline is met within its tolerance, in time and in memory") {
  const auto judged = [](double launch_gap, double gibibytes, double tolerance) {
    Contender now = made_up(1, 2, launch_gap);
    now.result.memory = {Bytes{gibibytes * 0x1p30}, Bytes{80 * 0x1p30}, gibibytes <= 80};
    return judge_baseline(compare({made_up(1, 2, 1), now}), tolerance);
  };
  CHECK(judged(1, 4, 0).is_met());
  CHECK_FALSE(judged(1, 4, 0).has_improved());
  CHECK(judged(1.08, 4, 0.02).is_met());  // 2 % of a step of 4 s, exactly
  CHECK(judged(1.09, 4, 0.02).is_slower);
  CHECK_FALSE(judged(1.09, 4, 0.02).is_met());
  CHECK(judged(1, 4.1, 0.02).needs_more);
  CHECK_FALSE(judged(1, 4.1, 0.02).is_slower);
  CHECK(judged(1, 81, 100).fits_no_more);
  CHECK(judged(0.9, 4, 0.02).has_improved());
  CHECK(judged(1, 3.9, 0.02).has_improved());
  CHECK_FALSE(judged(0.9, 5, 0.02).has_improved());
  CHECK_FALSE(judged(0.95, 4, 0.02).has_improved());
}

TEST_CASE("of replicas only what is significant breaks a baseline") {
  Contender before = made_up(1, 2, 3), now = made_up(1, 2, 3.3);
  before.result.replicas = steps_around(6, 2, 5);
  now.result.replicas = steps_around(6.3, 2, 5);
  CHECK(judge_baseline(compare({before, now}), 0.02).is_met());
  now.result.replicas = steps_around(16.3, 2, 5);
  CHECK(judge_baseline(compare({before, now}), 0.02).is_slower);
}

TEST_CASE("what a baseline says is in all reports") {
  Comparison c = compare({made_up(1, 2, 1), made_up(1, 2, 2)});
  c.baseline = judge_baseline(c, 0.02);
  CHECK(has(text_of(c), "worse than the tolerance of 2.0 %: the step takes 25.0 % longer"));
  const Json json = Json::parse(comparison_json(c));
  CHECK(json["baseline"]["met"] == false);
  CHECK(json["baseline"]["slower"] == true);
  CHECK(has(comparison_markdown(c), "- ❌ **Baseline** worse than"));
  c.baseline = judge_baseline(c, 0.3);
  CHECK(has(text_of(c), "within the tolerance of 30.0 %"));
}

TEST_CASE("what pairs of measured runs say of a difference is said with it") {
  Contender a = made_up(1, 2, 1), b = made_up(1, 2, 0.9);
  const RunTraits traits{"a100", "ampere", "dense transformer", "large layers", "16-bit"};
  std::vector<RecordedRuns> measured;
  for (const char* suite : {"one", "two", "three"})
    measured.push_back({suite, traits, "", {-0.1, -0.09, -0.08, 0}});
  a.result.expected_error = {12, 0.09, {{"a100"}, {"one", "two", "three"}}};
  b.result.expected_error = a.result.expected_error;
  const Comparison c = compare({a, b}, measured);
  REQUIRE(c.differences[0].pairs);
  CHECK(c.differences[0].pairs->pairs == 36);
  CHECK(has(text_of(c), "a difference predicted as that of B had the right sign in"));
  const Json json = Json::parse(comparison_json(c));
  CHECK(json["differences"][0]["measured_pairs"]["pairs"] == 36);
}

TEST_CASE("CSV has as many cells on each line, and the difference last") {
  Contender b = made_up(1.5, 2, 1);
  b.keys = {{"host.mode", "a, b"}, {"run.steps", "2"}};
  std::istringstream lines(comparison_csv(compare({made_up(1, 2, 5), b})));
  std::string line;
  std::getline(lines, line);
  CHECK(line == "what,name,unit,A,B,B - A");
  std::getline(lines, line);
  CHECK(line == "input,host.mode,,eager,\"a, b\",");
  int causes = 0;
  while (std::getline(lines, line)) {
    CAPTURE(line);
    CHECK(std::count(line.begin(), line.end(), ',') == 5);
    causes += line.starts_with("cause,") ? 1 : 0;
    if (line.starts_with("cause,launch_gap")) CHECK(line == "cause,launch_gap,s,5,1,-4");
  }
  CHECK(causes == 3);
}

TEST_CASE("Markdown has tables that names with markup do not break") {
  Contender b = made_up(1.5, 2, 1);
  b.result.scenario = "a|b_c";
  const std::string text = comparison_markdown(compare({made_up(1, 2, 5), b}));
  CHECK(has(text, "a\\|b\\_c"));
  CHECK(has(text, "| Answer | A | B | B - A | of A |\n| --- | ---: | ---: | ---: | ---: |\n"));
  CHECK(has(text, "| waiting for kernel launches | 5.000 s | 1.000 s | -4.000 s | -50.0 % |"));
}
