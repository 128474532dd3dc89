// Constants by measured steps: found again where steps are simulated with others, and refusals.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/calibrate/fit/step_factors.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/measure.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kProducts = 1.2, kNetwork = 1.4;

/// A GPT of 12 layers of width 2048 on so many nodes.
std::string scenario_of(int nodes, int micro_batch) {
  return fmt::format(
      "model: {{layers: 12, hidden: 2048, heads: 16, vocabulary: 50304}}\n"
      "cluster: {{base: dgx-h100, nodes: {0}, inter_node: {{bandwidth: 100 Gbit/s}}}}\n"
      "training: {{sequence_length: 2048, precision: bf16, micro_batch: {1}, global_batch: {2}}}\n"
      "parallelism: {{data: {{sharding: ddp, overlap: false}}}}\n",
      nodes, micro_batch, 8 * nodes * micro_batch);
}

/// Seconds of a step of a machine with slower products and a slower network.
double measured(int nodes, int micro_batch) {
  static const Library library{{source_folder()}};
  Scenario s =
      parse_scenario(scenario_of(nodes, micro_batch), "s.yaml", library, {}, known_names());
  for (GemmProfile& gemm : s.cluster.gpu.gemm) gemm.sustained *= kProducts;
  s.cluster.inter_node->efficiency /= kNetwork;
  const OpGraph graph = build(s);
  return measure(s, graph, simulate(make_plan(s, graph))).step_time.seconds();
}

/// The suite of such steps, a row each.
std::string suite_of(const std::vector<std::pair<int, int>>& rows) {
  std::string text =
      "suite: mine\ntitle: My machine\nsource: a test\nassumptions: [none]\n"
      "scenario:\n"
      "  model: {layers: 12, hidden: 2048, heads: 16, vocabulary: 50304}\n"
      "  cluster: {base: dgx-h100, inter_node: {bandwidth: 100 Gbit/s}}\n"
      "  training: {sequence_length: 2048, precision: bf16}\n"
      "  parallelism: {data: {sharding: ddp, overlap: false}}\n"
      "rows:\n";
  for (const auto& [nodes, micro_batch] : rows)
    text += fmt::format("  - {{nodes: {}, batch: {}, step: {:.9f}}}\n", nodes, micro_batch,
                        measured(nodes, micro_batch));
  return text +
         "map:\n  cluster.nodes: nodes\n  training.micro_batch: batch\n"
         "  training.global_batch: 8 * nodes * batch\n"
         "measured: step s\nlabel: 'nodes // \" nodes, \" // batch'\n";
}

nlohmann::json calibrated(const std::string& suite) {
  const TemporaryFolder folder;
  std::ostringstream out, notes;
  CHECK(calibrate_steps({.suite = folder.file("mine.yaml", suite), .format = "json", .jobs = 2},
                        out, notes) == ExitCode::ok);
  return nlohmann::json::parse(out.str());
}

double mean_error(const nlohmann::json& found, const char* predicted) {
  double sum = 0;
  for (const auto& row : found["rows"])
    sum += std::abs(row[predicted].get<double>() / row["measured_s"].get<double>() - 1);
  return sum / static_cast<double>(found["rows"].size());
}

}  // namespace

TEST_CASE("slower products and a slower network are told apart by four steps") {
  const auto found = calibrated(suite_of({{1, 1}, {1, 4}, {2, 1}, {4, 2}}));
  // What is known of such machines holds factors a little back.
  CHECK(found["constants"][0]["times_as_slow"].get<double>() ==
        doctest::Approx(kProducts).epsilon(0.02));
  CHECK(found["constants"][1]["times_as_slow"].get<double>() ==
        doctest::Approx(kNetwork).epsilon(0.05));
  CHECK(found["constants"][2]["reason"] == "no step hangs on it");
  CHECK(mean_error(found, "before_s") > 0.1);
  CHECK(mean_error(found, "fitted_s") < 0.01);
  CHECK(mean_error(found, "held_out_s") < 0.02);
}

TEST_CASE("one step has nothing to be judged by") {
  const TemporaryFolder folder;
  std::ostringstream out, notes;
  CHECK_THROWS_WITH_AS(
      calibrate_steps({.suite = folder.file("mine.yaml", suite_of({{1, 1}}))}, out, notes),
      "mine: 1 usable row, and at least two are needed: one to learn from, one to judge by",
      UserError);
}

TEST_CASE("factors of one constant are the mean of the steps and of what was known") {
  // Two steps that are e^0.1 and e^0.3 times as long, half of each by the constant: with noise s and
  // prior t, x = (0.5 * 0.4 / s^2) / (2 * 0.25 / s^2 + 1 / t^2).
  constexpr double s = 0.1, t = 0.2;
  const auto found = fit::step_factors({{0.5}, {0.5}}, {0.1, 0.3}, {t}, s);
  const double information = 0.5 / (s * s) + 1 / (t * t);
  CHECK(found.logs[0] == doctest::Approx(0.2 / (s * s) / information));
  CHECK(found.sd[0] == doctest::Approx(1 / std::sqrt(information)));
}

TEST_CASE("two constants that every step has alike share what is left") {
  const auto found = fit::step_factors({{0.5, 0.5}, {0.5, 0.5}}, {0.2, 0.2}, {0.1, 0.1}, 0.001);
  CHECK(found.logs[0] == doctest::Approx(found.logs[1]));
  CHECK(found.logs[0] == doctest::Approx(0.2).epsilon(0.001));
}
