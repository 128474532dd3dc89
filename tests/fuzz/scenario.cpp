// A scenario; one that is small goes through all rooms, from ops to reports.
#include <algorithm>
#include <numeric>

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

/// Whether a simulation has few tasks. A sanitizer makes it twenty times slower.
bool is_small(const Scenario& s) {
  const double layers =
      std::visit([](const auto& shape) { return layers_of(shape); }, s.model.shape);
  const double steps = s.run.steps + s.run.warmup;
  const double stages = s.parallelism.pipeline.stages * s.parallelism.pipeline.chunks;
  const double passes = steps * s.micro_batches() * static_cast<double>(s.training.loss_chunks);
  return s.cluster.gpus() <= 64 && s.run.replicas == 1 && !s.run.horizon && steps <= 6 &&
         passes * (layers + stages) <= 1000 && (!s.data || s.data->workers <= 16);
}

}  // namespace

void read_text(const std::string& text) {
  const std::string folder = std::string(source_folder()) + "/tests/errors/library/";
  const Scenario s = parse_scenario(text, folder + "fuzz.yaml", fuzz_library(), {}, known_names());
  require(parse_scenario(to_yaml(s), folder + "again.yaml", fuzz_library(), {}, known_names()) == s,
          "a scenario is read as it is written");
  if (!is_small(s)) return;
  const OpGraph graph = build(s);
  for (const bool folds : {true, false}) {
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
