// Choices by prediction against pencil and paper.
#include "sim/validation/choices.hpp"

#include <doctest/doctest.h>

#include "sim/validation/judgement.hpp"
#include "sim/validation/score.hpp"

using namespace stepsim;

namespace {

ValidationRow way(const std::string& job, double measured, double predicted,
                  const std::string& known = "") {
  ValidationRow row{.suite = "s", .label = job};
  row.measured = Seconds{measured};
  row.known = known;
  row.predicted = Prediction{.step = Seconds{predicted}};
  row.job = job;
  return row;
}

/// Rows of three jobs. In the first job the second best way is chosen, which loses 4 %; in the
/// second the best; the third job was done in one way.
std::vector<ValidationRow> three_jobs() {
  return {way("a", 100, 99), way("a", 104, 98), way("a", 150, 140),
          way("b", 10, 12),  way("b", 11, 13),  way("c", 7, 7)};
}

}  // namespace

TEST_CASE("what a choice loses is measured, of the way that is predicted to be the fastest") {
  const Choices choices = choices_of(three_jobs(), false);
  CHECK(choices.jobs == 2);
  CHECK(choices.ways == 5);
  CHECK(choices.fastest == 1);
  CHECK(choices.loss == doctest::Approx(0.02));                         // (4 + 0) / 2
  CHECK(choices.blind_loss == doctest::Approx((0.54 / 3 + 0.05) / 2));  // (0 + 4 + 50) / 3, 10 / 2
  CHECK(choices.worst.loss == doctest::Approx(0.04));
  CHECK(choices.worst.chosen == 1);
  CHECK(choices.worst.best == 0);
}

TEST_CASE("rows of other software are no ways to do the same job") {
  std::vector<ValidationRow> rows = three_jobs();
  rows[0].groups = {{"software", "new"}};
  rows[1].groups = rows[2].groups = {{"software", "old"}};
  const Choices choices = choices_of(rows, false);
  CHECK(choices.jobs == 2);
  CHECK(choices.ways == 4);
  CHECK(choices.fastest == 2);
}

TEST_CASE("pairs are counted by how far apart they were measured") {
  const Choices choices = choices_of(three_jobs(), false);
  CHECK(choices.pairs[0].pairs == 0);
  CHECK(choices.pairs[1].pairs == 1);  // 100 and 104, in the other order
  CHECK(choices.pairs[1].in_order == 0);
  CHECK(choices.pairs[2].pairs == 0);
  CHECK(choices.pairs[3].pairs == 3);  // 150 with both, and 10 with 11
  CHECK(choices.pairs[3].in_order == 3);
}

TEST_CASE("runs that are predicted alike are one way; known ones count where they are asked for") {
  std::vector<ValidationRow> rows = three_jobs();
  rows.push_back(way("a", 110, 98));  // with 104: 107
  CHECK(choices_of(rows, false).worst.loss == doctest::Approx(0.07));
  rows.push_back(way("a", 200, 50, "odd"));
  CHECK(choices_of(rows, false).worst.loss == doctest::Approx(0.07));
  CHECK(choices_of(rows, true).worst.loss == doctest::Approx(1));
  rows.back().suite = "other";
  CHECK(choices_of(rows, true).worst.loss == doctest::Approx(0.07));
}

TEST_CASE("choices of suites sum by their jobs, and may lose no more than recorded") {
  const RecordedChoices one = recorded("s", false, choices_of(three_jobs(), false));
  RecordedChoices other = one;
  other.suite = "other";
  other.jobs = 6;
  other.loss = 0.1;
  const RecordedChoices sum = sum_of({one, other});
  CHECK(sum.jobs == 8);
  CHECK(sum.loss == doctest::Approx((2 * 0.02 + 6 * 0.1) / 8));
  CHECK(sum.pairs.at(3) == 6);

  CHECK(worse_than({one}, {one}).empty());
  RecordedChoices now = one;
  now.loss += kMarginPoints + 1e-6;
  const auto breaches = worse_than({one}, {now});
  REQUIRE(breaches.size() == 1);
  CHECK(breaches[0].sentence ==
        "choices: what is predicted to be the fastest loses 2.3 %, recorded 2.0 %");
  CHECK(worse_than({one}, {other}).size() == 1);  // not in the record
  CHECK(difference({one}, {one}).empty());
  CHECK(difference({one}, {now, other}).find("loss 2.0 % -> 2.3 %") != std::string::npos);
  CHECK(difference({one}, {now, other}).find("new, loss 10.0 %") != std::string::npos);

  const auto after = updated({one, other}, {}, {"s"});  // s was scored and has none now
  REQUIRE(after.size() == 1);
  CHECK(after[0].suite == "other");
}
