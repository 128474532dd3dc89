// Scores against pencil and paper.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/validation/judgement.hpp"
#include "sim/validation/score.hpp"

using namespace stepsim;

namespace {

ValidationRow row_of(const std::string& label, double measured, double predicted,
                     const std::string& gpu, const std::string& known = "") {
  ValidationRow row{.suite = "s", .label = label, .file = "s.csv", .line = 2};
  row.measured = Seconds{measured};
  row.known = known;
  row.groups = {{"gpu", gpu}};
  row.predicted = Prediction{.step = Seconds{predicted}};
  row.predicted->breakdown[0] = predicted;
  return row;
}

/// Errors of +10, -20, +5 and -50 %, the last one known.
std::vector<ValidationRow> four_rows() {
  return {row_of("a", 10, 11, "8"), row_of("b", 10, 8, "16"), row_of("c", 100, 105, "8"),
          row_of("d", 2, 1, "16", "odd")};
}

}  // namespace

TEST_CASE("errors of four rows are those of pencil and paper") {
  const Errors e = errors_of({0.1, -0.2, 0.05, -0.5});
  CHECK(e.count == 4);
  CHECK(e.mean == doctest::Approx(0.2125));  // (10 + 20 + 5 + 50) / 4
  CHECK(e.median == doctest::Approx(0.15));  // between 10 and 20
  CHECK(e.p90 == doctest::Approx(0.41));     // 0.7 of the way from 20 to 50
  CHECK(e.max == doctest::Approx(0.5));
  CHECK(e.bias == doctest::Approx(-0.1375));  // (10 - 20 + 5 - 50) / 4
  CHECK(errors_of({}).count == 0);
}

TEST_CASE("a score has the whole, the groups, and both without what is known") {
  const Score score = score_of(four_rows());
  CHECK(score.all.mean == doctest::Approx(0.2125));
  CHECK(score.expected.count == 3);
  CHECK(score.expected.mean == doctest::Approx(0.35 / 3));
  REQUIRE(score.groups.size() == 2);
  CHECK(score.groups[0].value == "8");  // numbers ascend
  CHECK(score.groups[0].all.mean == doctest::Approx(0.075));
  CHECK(score.groups[1].all.count == 2);
  CHECK(score.groups[1].expected.count == 1);
  CHECK(score.worst == std::vector<std::size_t>{3, 1, 0, 2});
  CHECK(score_of(four_rows(), 2).worst.size() == 2);
}

TEST_CASE("a row without a prediction is counted, and breaks the tolerance unless it is known") {
  auto rows = four_rows();
  rows[0].predicted.reset();
  rows[0].reason = "tensor 3 does not divide 8";
  rows[3].predicted.reset();
  const Score score = score_of(rows);
  CHECK(score.unpredicted == std::vector<std::size_t>{0, 3});
  CHECK(score.all.count == 2);
  const auto breaches = breaches_of(rows, score, {}, true);
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].sentence == "a: not predicted: tensor 3 does not divide 8");
  CHECK(breaches[0].file == "s.csv");
}

TEST_CASE("limits are of rows that are expected to be met") {
  const auto rows = four_rows();
  const Score score = score_of(rows);
  const Tolerance tolerance{.row = 0.15, .mean = 0.12, .median = 0.05, .p90 = {}, .bias = 0.01};
  const auto limits = limits_of(score, tolerance);
  REQUIRE(limits.size() == 4);
  CHECK(limits[0].actual == doctest::Approx(0.2));
  CHECK(limits[1].holds());  // 11.7 %
  const auto breaches = breaches_of(rows, score, tolerance, true);
  REQUIRE(breaches.size() == 3);
  CHECK(breaches[0].sentence == "b: -20.0 % beyond 15.0 % of a row");
  CHECK(breaches[1].sentence == "median 10.0 % above 5.0 %");
  CHECK(breaches[2].sentence == "bias 1.7 % above 1.0 %");
  CHECK(breaches_of(rows, score, tolerance, false).size() == 1);  // a part: rows alone
}

TEST_CASE("a group may get worse by the margin, and no further") {
  const auto now = recorded("s", score_of(four_rows()));
  REQUIRE(now.size() == 3);
  CHECK(now[0].name.empty());
  CHECK(now[0].rows == 4);
  auto before = now;
  before[0].mean = (now[0].mean - kMarginPoints) / (1 + kMarginShare) + 1e-6;
  CHECK(worse_than(before, now).empty());
  before[0].mean -= 2e-6;
  const auto breaches = worse_than(before, now);
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].sentence == "s: mean 21.3 %, recorded 20.0 %");
  before.pop_back();
  CHECK(worse_than(before, now).size() == 2);  // a group that the record does not have
}

TEST_CASE("a group of which nothing was predicted is not recorded") {
  Score score;
  score.all.count = 2;
  score.groups.push_back({.name = "model", .value = "none of it"});
  const auto list = recorded("small", score);
  REQUIRE(list.size() == 1);
  CHECK(list[0].name.empty());
}

TEST_CASE("a record takes over the suites that were scored, and says what changed") {
  const auto now = recorded("s", score_of(four_rows()));
  const std::vector<RecordedErrors> before{{"other", "", "", 3, 0.1, 0.1, 0.1, 0.1, 0},
                                           {"s", "", "", 4, 0.3, 0.2, 0.4, 0.5, 0},
                                           {"s", "gpu", "32", 1, 0.1, 0.1, 0.1, 0.1, 0}};
  const auto after = updated(before, now);
  REQUIRE(after.size() == 4);
  CHECK(after[0].suite == "other");
  CHECK(after[1].mean == 0.2125);
  const std::string text = difference(before, now);
  CHECK(text.find("mean 30.0 % -> 21.3 %") != std::string::npos);
  CHECK(text.find("s, gpu 32") != std::string::npos);
  CHECK(text.find("gone") != std::string::npos);
  CHECK(difference(after, now).empty());
}

TEST_CASE("rows that ran and are predicted not to fit are counted, recorded and guarded") {
  auto rows = four_rows();
  rows[1].predicted->memory_share = 1.01;
  rows[2].predicted->memory_share = 1;
  rows[3].predicted->memory_share = 1.76;  // known, and did fit all the same
  const Score score = score_of(rows);
  CHECK(score.not_fitting == std::vector<std::size_t>{1, 3});
  const auto now = recorded("s", score), before = recorded("s", score_of(four_rows()));
  CHECK(now.front().not_fitting == 2);
  CHECK_FALSE(now.back().not_fitting);
  CHECK_FALSE(before.front().not_fitting);
  CHECK(difference(before, now) == fmt::format("  {:<48} not fitting 0 -> 2\n", "s"));
  CHECK(worse_than(now, before).empty());
  const auto breaches = worse_than(before, now);
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].sentence ==
        "s: 2 rows that ran are predicted not to fit in memory, recorded 0");
}

TEST_CASE("what stands out in a row is what its neighbours do not have") {
  auto rows = four_rows();
  const auto bubble = static_cast<std::size_t>(Cause::pipeline_bubble);
  rows[0].predicted->breakdown[0] = 8.25;
  rows[0].predicted->breakdown[bubble] = 2.75;
  CHECK(likely_cause(rows[0], rows) == "pipeline bubble 25 % (median row 0 %)");
  CHECK(likely_cause(rows[1], rows) == "forward 100 %");
  rows[1].predicted->memory_share = 0.97;
  CHECK(likely_cause(rows[1], rows) == "forward 100 %; memory 97 % full");
}
