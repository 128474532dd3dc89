// The range of a new source, against pencil and paper.
#include "sim/validation/error_band.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace stepsim;
using Texts = std::vector<std::string>;

namespace {

RunTraits a100_run() {
  return {"a100", "ampere", "dense transformer", "large layers", "16-bit", "one node", "fused", 8};
}

/// Ten sources with a run each, predicted exp(0.01) to exp(0.10) times as long as measured.
std::vector<RecordedRuns> ten_sources() {
  std::vector<RecordedRuns> runs;
  for (int i = 1; i <= 10; ++i)
    runs.push_back({std::to_string(i), a100_run(), "", {std::exp(0.01 * i) - 1}});
  return runs;
}

}  // namespace

TEST_CASE("the range is that of a new draw, by Student's t around the median") {
  const auto band = error_band(a100_run(), ten_sources());
  REQUIRE(band);
  // t of 9 degrees of freedom is 1.383, the normal distribution has 1.2816: 1.079 times as wide,
  // times the root of 1 + 1 / 10. Percentiles 10, 50 and 90 are the first, fifth and ninth of ten.
  const double factor = 1.383 / 1.2816 * std::sqrt(1.1);
  CHECK(std::log(band->least) == doctest::Approx(0.05 - factor * 0.04).epsilon(1e-3));
  CHECK(std::log(band->most) == doctest::Approx(0.05 + factor * 0.04).epsilon(1e-3));
  CHECK(band->unseen.empty());
}

TEST_CASE("many rows of few sources make a wider range than as many sources") {
  std::vector<RecordedRuns> runs = ten_sources();
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].publisher = i % 2 == 0 ? "a" : "b";
  const auto band = error_band(a100_run(), runs), other = error_band(a100_run(), ten_sources());
  REQUIRE(band);
  CHECK(band->most - band->least > 1.1 * (other->most - other->least));
  for (RecordedRuns& one : runs) one.publisher = "a";
  CHECK_FALSE(error_band(a100_run(), runs));  // one source says nothing of another
}

TEST_CASE("runs that share more count more, and rows count as nobody had seen them") {
  RunTraits other = a100_run();
  other.generation = "hopper";
  other.gpu = "h100";
  std::vector<RecordedRuns> runs = ten_sources();
  for (std::size_t i = 0; i < 5; ++i) runs[i].traits = other;  // the ones that are less too slow
  const auto mine = error_band(a100_run(), runs), his = error_band(other, runs);
  CHECK(mine->least * mine->most > his->least * his->most);
  for (RecordedRuns& one : runs) one.unseen = {-0.5};
  CHECK(error_band(a100_run(), runs)->most == doctest::Approx(0.5));
}

TEST_CASE("what no run of the kind of model had is said, and makes the range wider") {
  RunTraits mine = a100_run();
  mine.fabric = "EFA";
  mine.gpus = 16;
  const auto band = error_band(mine, ten_sources());
  REQUIRE(band);
  CHECK(band->unseen == Texts{"EFA", "16 GPUs"});
  const auto seen = error_band(a100_run(), ten_sources());  // which all are as unlike
  CHECK(std::log(band->most / band->least) ==
        doctest::Approx(kUnseenFactor * std::log(seen->most / seen->least)));
  mine = a100_run();
  mine.model = "mixture of experts";
  CHECK(error_band(mine, ten_sources())->unseen == Texts{"mixture of experts"});
  mine.generation = kNoGeneration;
  mine.gpu = "epyc";
  CHECK_FALSE(error_band(mine, ten_sources()));
}

TEST_CASE("coverage is counted by family, of each source by the others alone") {
  std::vector<RecordedRuns> runs = ten_sources();
  runs[0].errors = {-0.9, 0.05};  // the first is far outside
  runs[1].errors = {-0.9};
  runs[1].known = "slow";
  const auto coverage = band_coverage(runs);
  REQUIRE(coverage.size() == 5);
  CHECK(coverage[0].family == "all");
  CHECK(coverage[0].rows == 10);  // without the known one
  CHECK(coverage[0].inside < 10);
  CHECK(coverage[1].family == "ampere");
  CHECK(coverage[4].family == "16-bit");
  CHECK(coverage[0].width > 0);
  CHECK(band_coverage({runs[0]}).empty());
}
