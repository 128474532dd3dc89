// Which measured runs are like one, and what their errors say.
#include "sim/validation/expected_error.hpp"

#include <doctest/doctest.h>

#include "sim/validation/recorded_runs.hpp"

using namespace stepsim;
using Texts = std::vector<std::string>;

namespace {

RunTraits a100_run() {
  return {"a100", "ampere", "dense transformer", "large layers", "16-bit", "one node", "fused", 8};
}

/// A kind of which a suite has so many runs, all with that error.
RecordedRuns kind(const std::string& suite, const RunTraits& traits, std::size_t rows, double error,
                  const std::string& known = "") {
  return {suite, traits, known, std::vector<double>(rows, error)};
}

RunTraits with(RunTraits traits, std::string RunTraits::*trait, const std::string& value) {
  traits.*trait = value;
  return traits;
}

ValidationRow row_of(const std::string& suite, double error, const RunTraits& traits,
                     const std::string& known = "") {
  ValidationRow row{.suite = suite};
  row.measured = Seconds{1};
  row.predicted = Prediction{.step = Seconds{1 + error}};
  row.known = known;
  row.traits = traits;
  return row;
}

}  // namespace

TEST_CASE("runs that share everything are enough where three suites have twenty of them") {
  const RunTraits mine = a100_run();
  const RunTraits other = with(mine, &RunTraits::gpu, "a30");
  std::vector<RecordedRuns> runs{kind("a", mine, 10, 0.1), kind("b", mine, 5, -0.1),
                                 kind("c", mine, 5, 0.3), kind("a", other, 50, 0.5)};
  const ExpectedError enough = expected_error(mine, runs);
  CHECK(enough.traits == Texts{"a100", "dense transformer", "large layers", "16-bit"});
  CHECK(enough.rows == 20);
  CHECK(enough.suites == Texts{"a", "b", "c"});
  CHECK(enough.worst_suite == "c");
  CHECK(enough.worst_mean == doctest::Approx(0.3));

  runs[2].errors.pop_back();  // 19: other GPUs of the generation are like it now
  const ExpectedError wider = expected_error(mine, runs);
  CHECK(wider.traits == Texts{"ampere", "dense transformer", "large layers", "16-bit"});
  CHECK(wider.rows == 69);

  runs.erase(runs.begin() + 2, runs.end());
  runs[0].errors.resize(200, 0.1);  // two suites: no kind has three, and no wider one has more rows
  CHECK(expected_error(mine, runs).rows == 205);
  CHECK(expected_error(mine, runs).traits == enough.traits);
}

TEST_CASE("each suite counts the same, however many rows it has") {
  const RunTraits mine = a100_run();
  const ExpectedError error = expected_error(
      mine, {kind("a", mine, 97, 0.1), kind("b", mine, 2, -0.2), kind("c", mine, 1, -0.6)});
  CHECK(error.rows == 100);
  CHECK(error.bias == doctest::Approx((0.1 - 0.2 - 0.6) / 3));
  CHECK(error.median == doctest::Approx(0.2));
  CHECK(error.p90 == doctest::Approx(0.6));
}

TEST_CASE("a kind is widened by GPU, precision and layers, never to another model") {
  const RunTraits mine = a100_run();
  const auto like = [&](std::string RunTraits::*trait, const std::string& value) {
    std::vector<RecordedRuns> runs;
    for (const char* suite : {"a", "b", "c"})
      runs.push_back(kind(suite, with(mine, trait, value), 10, 0.1));
    return expected_error(mine, runs);
  };
  RunTraits hopper = with(mine, &RunTraits::gpu, "h100");
  hopper.generation = "hopper";
  CHECK(expected_error(mine, {kind("a", hopper, 10, 0.1)}).traits ==
        Texts{"dense transformer", "large layers", "16-bit"});
  CHECK(like(&RunTraits::gpu, "a30").traits ==
        Texts{"ampere", "dense transformer", "large layers", "16-bit"});
  CHECK(like(&RunTraits::precision, "fp8").traits == Texts{"dense transformer", "large layers"});
  CHECK(like(&RunTraits::layers, "small layers").traits == Texts{"dense transformer"});
  const ExpectedError none = like(&RunTraits::model, "mixture of experts");
  CHECK(none.rows == 0);
  REQUIRE(none.band);  // runs of another kind of model tell a little
  CHECK(none.band->unseen == Texts{"dense transformer"});
  CHECK(none.traits == Texts{"a100", "dense transformer", "large layers", "16-bit"});
}

TEST_CASE("runs with adapters are judged by runs with adapters, and others are not") {
  const RunTraits mine = a100_run();
  const RunTraits adapted = with(mine, &RunTraits::model, "dense transformer with adapters");
  const std::vector<RecordedRuns> runs{kind("a", mine, 50, -0.1), kind("b", mine, 50, -0.1),
                                       kind("c", mine, 50, -0.1), kind("a", adapted, 12, 0.1)};
  CHECK(expected_error(adapted, runs).rows == 12);
  CHECK(expected_error(adapted, runs).bias == doctest::Approx(0.1));
  CHECK(expected_error(mine, runs).rows == 150);
}

TEST_CASE("runs on GPUs say nothing of a CPU, nor of another CPU") {
  const RunTraits cpu{"epyc", kNoGeneration, "dense transformer", "large layers", "32-bit"};
  const RunTraits gpu = with(a100_run(), &RunTraits::precision, "32-bit");
  const RunTraits other = with(cpu, &RunTraits::gpu, "xeon");
  const std::vector<RecordedRuns> runs{kind("a", gpu, 100, 0.1), kind("b", other, 100, 0.1)};
  CHECK(expected_error(cpu, runs).rows == 0);
  CHECK(expected_error(gpu, runs).rows == 100);
}

TEST_CASE("rows that are known are counted apart, also where there are no others") {
  const RunTraits mine = a100_run();
  const std::vector<RecordedRuns> runs{kind("a", mine, 7, -0.5, "slow"), kind("b", mine, 9, 0.1)};
  const ExpectedError error = expected_error(mine, runs);
  CHECK(error.known == 7);
  CHECK(error.rows == 9);
  CHECK(error.p90 == doctest::Approx(0.1));
  CHECK_FALSE(error.band);  // of one source
  CHECK(expected_error(mine, {runs[0]}).known == 7);
  CHECK(expected_error(mine, {runs[0]}).rows == 0);
}

TEST_CASE("rows are recorded by suite, traits and why they are known") {
  const RunTraits mine = a100_run();
  std::vector<ValidationRow> rows{row_of("s", 0.2, mine), row_of("s", -0.1, mine),
                                  row_of("s", -0.5, mine, "slow"), row_of("r", 0, mine)};
  rows[0].publisher = rows[1].publisher = "team";
  rows[0].unseen = Seconds{1.4};
  rows.push_back(row_of("s", 0, mine));
  rows.back().predicted.reset();
  const auto runs = recorded_runs(rows);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].suite == "r");
  CHECK(runs[1].errors.size() == 2);
  CHECK(runs[1].errors[0] == doctest::Approx(-0.1));  // ascending
  CHECK(runs[1].source() == "team");
  CHECK(runs[1].unseen_errors()[1] == doctest::Approx(0.4));
  CHECK(runs[2].known == "slow");
  CHECK(runs[2].unseen.empty());  // as predicted
  CHECK(runs[2].source() == "s");
}

TEST_CASE("a record of runs takes over the suites that were scored, and says what changed") {
  const RunTraits mine = a100_run();
  const RunTraits other = with(mine, &RunTraits::gpu, "h100");
  const std::vector<RecordedRuns> before{kind("kept", mine, 3, 0.1), kind("s", mine, 2, 0.3),
                                         kind("s", other, 1, 0.1)};
  const std::vector<RecordedRuns> now{kind("s", mine, 2, 0.2), kind("s", mine, 1, 0.9, "slow")};
  const auto after = updated(before, now);
  REQUIRE(after.size() == 3);
  CHECK(after[0].suite == "kept");
  CHECK(after[1].errors[0] == 0.2);
  CHECK(after[2].known == "slow");
  CHECK(difference(before, now) ==
        "  s, 8 a100 dense transformer of large layers 16-bit fused one node mean 30.00 % -> "
        "20.00 %\n"
        "  s, 8 a100 dense transformer of large layers 16-bit fused one node, known new, mean "
        "90.00 %\n"
        "  s, 8 h100 dense transformer of large layers 16-bit fused one node gone\n");
  CHECK(difference(after, now).empty());
}

TEST_CASE("a scenario's traits are those of its GPU, model, layers and precision") {
  Scenario scenario;
  GpuProfile& gpu = scenario.cluster.gpu;
  gpu.name = "H100-sxm-80gb";
  gpu.architecture = Architecture::hopper;
  gpu.gemm.push_back({.form = TiledGemm{}});
  scenario.training.precision = Precision::bf16;
  scenario.training.micro_batch = 1;
  scenario.training.sequence_length = 2048;
  scenario.model.shape = Transformer{.hidden = 2049};
  scenario.training.fusion = "none";
  CHECK(traits_of(scenario) == RunTraits{"h100", "hopper", "dense transformer", "large layers",
                                         "16-bit", "one node", "none", 1});
  scenario.cluster.nodes = 2;
  scenario.cluster.gpus_per_node = 8;
  scenario.cluster.inter_node = Fabric{.nics_per_node = 4, .bandwidth = BytesPerSecond{50e9}};
  CHECK(traits_of(scenario).fabric == "fast fabric");  // 25 GB/s a GPU
  scenario.cluster.inter_node->nics_per_node = 2;
  CHECK(traits_of(scenario).fabric == "slow fabric");
  scenario.cluster.inter_node->plugin_latency = Seconds{75e-6};
  CHECK(traits_of(scenario).fabric == "EFA");
  CHECK(traits_of(scenario).gpus == 16);
  scenario.cluster.nodes = scenario.cluster.gpus_per_node = 1;
  scenario.training.lora = Lora{.rank = 16};
  CHECK(traits_of(scenario).model == "dense transformer with adapters");
  scenario.training.lora.reset();

  scenario.model.shape = Transformer{.hidden = 4096, .experts = Experts{}};
  scenario.parallelism.tensor = 4;  // 2048 x 4096^2 / 4 = 2^33
  scenario.training.precision = Precision::fp8;
  CHECK(traits_of(scenario).model == "mixture of experts");
  CHECK(traits_of(scenario).layers == "small layers");
  CHECK(traits_of(scenario).precision == "fp8");

  scenario.model.shape = ResNet{};
  scenario.training.precision = Precision::tf32;
  gpu.gemm = {{.form = SmoothGemm{}}};
  CHECK(traits_of(scenario) ==
        RunTraits{"h100", kNoGeneration, "convolutional", "", "32-bit", "one node", "none", 1});
}
