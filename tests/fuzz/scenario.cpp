// A scenario; one that is small goes through all rooms, from ops to reports.
#include <limits>
#include <numeric>
#include <variant>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/report/run/run_report.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

double layers_of(const Transformer& model) {
  const double depths = model.hybrid ? static_cast<double>(model.hybrid->pattern.size()) : 0;
  const double tower = model.tower ? static_cast<double>(model.tower->layers) : 0;
  return static_cast<double>(model.layers + model.encoder_layers + model.mtp_layers) + tower +
         depths;
}
double layers_of(const Mlp& model) { return static_cast<double>(model.layers); }
double layers_of(const ResNet& model) {
  return std::accumulate(model.blocks.begin(), model.blocks.end(), 0.0);
}
double layers_of(const Dlrm& model) {
  return static_cast<double>(model.tables.size() + model.bottom.size() + model.top.size());
}

/// About how many tasks a rank has; infinite where not every part of the answer is quick.
double tasks_of(const Scenario& s) {
  const bool is_long = s.run.replicas > 1 || s.run.horizon || (s.data && s.data->workers > 16);
  if (is_long) return std::numeric_limits<double>::infinity();
  const double layers =
      std::visit([](const auto& shape) { return layers_of(shape); }, s.model.shape);
  const double stages = s.parallelism.pipeline.stages * s.parallelism.pipeline.chunks;
  const double steps = s.run.steps + s.run.warmup;
  return steps * s.micro_batches() * static_cast<double>(s.training.loss_chunks) *
         (layers + stages);
}

}  // namespace

void read_text(const std::string& text) {
  const std::string folder = std::string(source_folder()) + "/tests/errors/library/";
  const Scenario s = parse_scenario(text, folder + "fuzz.yaml", fuzz_library(), {}, known_names());
  require(parse_scenario(to_yaml(s), folder + "again.yaml", fuzz_library(), {}, known_names()) == s,
          "a scenario is read as it is written");
  // The sanitizers make a simulation thirty times slower.
  constexpr double kMostOfRank = 1000, kMostOfAll = 3000;
  const double tasks = tasks_of(s);
  if (tasks > kMostOfRank || s.cluster.gpus() > 64) return;
  const OpGraph graph = build(s);
  for (const bool folds : {true, false}) {
    if (!folds && tasks * s.cluster.gpus() > kMostOfAll) continue;
    const Plan plan = make_plan(s, graph, {.folds = folds});
    const Simulation simulation = simulate(plan, {.fold = folds});
    const Metrics metrics = measure(s, graph, simulation);
    const auto outcomes = judge(s, metrics);
    to_table(metrics, outcomes, {});
    to_json(metrics, outcomes, nullptr);
    to_csv(metrics);
  }
}

}  // namespace stepsim
