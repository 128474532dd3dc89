// Tests medians, errors and orders of made-up measurements, and the time for them.
#include "validate/trainer/selfcheck/judgement.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "validate/trainer/selfcheck/deadline.hpp"
#include "validate/trainer/selfcheck/verdict.hpp"

using namespace stepsim::selfcheck;

namespace {

Row row_of(Setting setting, std::vector<Try> tries) { return {setting, std::move(tries)}; }

/// A row of three passes, measured as given and predicted alike in all.
Row bucket_row(int kib, std::vector<double> measured, double predicted) {
  Row row{{2, 8, 512, 64, kib}, {}};
  for (const double seconds : measured) row.tries.push_back({seconds, predicted});
  return row;
}

}  // namespace

TEST_CASE("a row's error is the median of what its passes are off, whatever one outlier is") {
  const Row row = row_of({1, 4, 256, 32}, {{1, 1.1}, {4, 1.1}, {1, 1.2}});
  CHECK(error_of(row) == doctest::Approx(0.1));
  CHECK(measured_seconds(row) == 1);
  CHECK(predicted_seconds(row) == 1.1);
  const Row even = row_of({1, 4, 256, 32}, {{4, 1}, {1, 1}, {3, 1}, {2, 1}});
  CHECK(measured_seconds(even) == 2.5);
}

TEST_CASE("the mean, median and largest error are of absolute values") {
  const stepsim::Errors errors =
      errors_of({row_of({1, 1, 1, 1}, {{1, 0.9}}), row_of({1, 2, 1, 1}, {{1, 1.2}}),
                 row_of({1, 3, 1, 1}, {{2, 2.0}})});
  CHECK(errors.mean == doctest::Approx(0.1));
  CHECK(errors.median == doctest::Approx(0.1));
  CHECK(errors.max == doctest::Approx(0.2));
}

TEST_CASE("a family differs in one thing, and has more than one row") {
  const std::vector<Row> rows{
      row_of({1, 4, 256, 32}, {}),          row_of({1, 4, 256, 32, 4096, 0}, {}),
      row_of({1, 4, 256, 32, 4096, 2}, {}), row_of({2, 4, 256, 32, 1024}, {}),
      row_of({2, 4, 256, 32, 2048}, {}),    row_of({2, 4, 512, 32, 2048}, {})};
  const std::vector<Family> families = families_of(rows);
  REQUIRE(families.size() == 2);
  CHECK(families[0].what == "workers");
  CHECK(families[0].rows.size() == 2);
  CHECK(families[1].what == "bucket");
  CHECK(families[1].rows.size() == 2);
}

TEST_CASE("pairs are compared pass by pass, and those within the noise are not judged") {
  // Times drift by half from pass to pass. The second row is 10 % slower than the first in each
  // pass, the third is faster in one pass and slower in others.
  const Family family{
      "bucket",
      {bucket_row(1024, {1.0, 1.5, 1.2}, 1.0), bucket_row(2048, {1.1, 1.65, 1.32}, 1.2),
       bucket_row(4096, {1.05, 1.6, 1.1}, 0.9)}};
  const Order order = order_of(family);
  CHECK(order.pairs == 3);
  CHECK(order.decided == 2);  // the pairs 1024 and 2048, and 2048 and 4096
  CHECK(order.right == 2);
  CHECK(ranking_text(family, measured_seconds) == "4 MiB < 1 MiB < 2 MiB");
  CHECK(ranking_text(family, predicted_seconds) == "4 MiB < 1 MiB < 2 MiB");
}

TEST_CASE("a wrong order is counted, and so is one that was predicted to make no difference") {
  const Row fast = bucket_row(1024, {1, 1, 1}, 1.0), slow = bucket_row(2048, {2, 2, 2}, 0.9),
            same = bucket_row(4096, {3, 3, 3}, 1.0);
  const Order wrong = order_of({"bucket", {fast, slow}});
  CHECK(wrong.decided == 1);
  CHECK(wrong.right == 0);
  CHECK(order_of({"bucket", {fast, same}}).right == 0);
  CHECK(regret_of({"bucket", {fast, slow}}) == doctest::Approx(1.0));
  CHECK(regret_of({"bucket", {fast, same}}) == 0);
}

TEST_CASE("the grid has what it is to vary") {
  const std::vector<Setting> grid = full_grid();
  CHECK(grid.size() >= 24);
  std::vector<Row> rows;
  for (const Setting& setting : grid) rows.push_back({setting, {{1, 1}}});
  int buckets = 0, workers = 0;
  for (const Family& family : families_of(rows)) ++(family.what == "bucket" ? buckets : workers);
  CHECK(buckets == 4);
  CHECK(workers == 3);
}

TEST_CASE("the working set is the state of Adam and the activations") {
  // 4 layers of 512 x 512 are four times 4 MiB; besides there are 15 tensors of 64 x 512.
  CHECK(working_set_bytes({1, 4, 512, 64}) == 16 * 1048576 + 15 * 131072);
}

TEST_CASE("a selfcheck says which limit is whose, and why it shows nothing") {
  const stepsim::Errors good{.count = 6, .mean = 0.103, .median = 0.06, .max = 0.273};
  const stepsim::Errors off{.count = 6, .mean = 0.3, .median = 0.2, .max = 0.9};
  const Limits limits{0.25, 0.75};
  const std::string errors = "mean 10.3 % (limit 25 %), median 6.0 %, largest 27.3 %\n";
  const Verdict passed = verdict_of(good, limits, true, 0.63);
  CHECK(passed.code == kPassed);
  CHECK(passed.text == errors + "passed\n");

  const Verdict skipped = verdict_of(good, limits, false, 0.63);
  CHECK(skipped.code == 77);
  CHECK(skipped.text == errors +
                            "skipped: others used 63 % of the cores, and an order that stands out "
                            "of the noise is predicted wrong (exit code 77: neither passed nor "
                            "failed)\n");
  CHECK(verdict_of(off, limits, true, 0.63).code == kSkipped);

  const Verdict failed = verdict_of(off, limits, true, 0.01);
  CHECK(failed.code == kFailed);
  CHECK(failed.text.ends_with(
      "failed: the mean error is above its limit; others used 1 % of the cores\n"));
  const Verdict beyond = verdict_of(off, {0.1, 0.2}, false, 0.5);
  CHECK(beyond.code == kFailed);
  CHECK(beyond.text.find("above 20 %, its limit where others use the cores; others used 50 %") !=
        std::string::npos);
}

TEST_CASE("nothing is left of a time that is over") {
  CHECK_THROWS_AS((void)Deadline(std::chrono::seconds(0)).left(), OutOfTime);
  const double left = Deadline(std::chrono::minutes(10)).left();
  CHECK(left > 0);
  CHECK(left <= 600);
}
