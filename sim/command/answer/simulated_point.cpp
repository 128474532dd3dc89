// What a sweep wants of a simulation.
#include "sim/command/answer/simulated_point.hpp"

#include <fmt/format.h>

#include "sim/command/answer/replicas.hpp"
#include "sim/command/answer/second_step.hpp"
#include "sim/core/error.hpp"
#include "sim/core/hash.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/sweep/point_columns.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

double dollars_of(const Metrics& m) {
  if (!m.cost) return 0;
  return m.has_tokens ? m.cost->per_million_tokens : m.cost->per_million_samples;
}

std::string too_large(const Memory& memory) {
  const StageMemory& worst = memory.worst();
  return fmt::format("stage {} needs {} of {}, and {} with fragments", worst.stage,
                     humanise(worst.needed()).text(), humanise(memory.capacity).text(),
                     humanise(worst.total()).text());
}

/// Metrics of all steps that are asked for.
Metrics whole(const Scenario& scenario, const OpGraph& graph, PlanCache& cache) {
  int replica = 0;
  if (scenario.run.replicas > 1) replica = run_replicas(scenario, graph, {.jobs = 1}).median;
  const Plan plan =
      make_plan(scenario, graph, {.replica = replica, .folds = true, .cache = &cache});
  return measure(scenario, graph, simulate(plan));
}

Outcome outcome_of(const Metrics& m) {
  const bool fits = m.memory.stages.empty() || m.memory.fits();
  PointNumbers numbers{.step = m.step_time,
                       .mfu = m.mfu,
                       .tokens_per_s = m.has_tokens ? m.tokens_per_s : 0,
                       .samples_per_s = m.samples_per_s,
                       .gpus = static_cast<double>(m.gpus),
                       .dollars = dollars_of(m),
                       .breakdown = m.breakdown};
  if (!m.memory.stages.empty()) {
    numbers.peak = m.memory.worst().total();
    numbers.capacity = m.memory.capacity;
  }
  return {.state = fits ? PointState::ok : PointState::too_large,
          .reason = fits ? "" : too_large(m.memory),
          .numbers = numbers};
}

}  // namespace

Outcome simulated_point(const Scenario& scenario, PlanCache& cache) {
  const OpGraph graph = build(scenario);
  if (const auto second = second_step(scenario, graph, cache))
    return outcome_of(measure(second->scenario, graph, second->simulation));
  return outcome_of(whole(scenario, graph, cache));
}

std::string text_of(const PointAnswer& answer) {
  const auto& numbers = answer.outcome.numbers;
  return answer.scenario + "\n" + (numbers ? text_of(number_values(*numbers)) : "") + "\n" +
         answer.outcome.reason;
}

PointAnswer point_answer_of(const std::string& text) {
  const std::size_t numbers = text.find('\n') + 1, reason = text.find('\n', numbers) + 1;
  if (numbers == 0 || reason == 0) throw InternalError("a point without its reason");
  PointAnswer answer{text.substr(0, numbers - 1), {PointState::refused, text.substr(reason), {}}};
  if (numbers + 1 == reason) return answer;
  const std::vector<double> values = numbers_of(text.substr(numbers, reason - 1 - numbers));
  if (values.size() != number_columns().size()) throw InternalError("a point of another size");
  answer.outcome.state = answer.outcome.reason.empty() ? PointState::ok : PointState::too_large;
  answer.outcome.numbers = numbers_of_columns(values);
  return answer;
}

std::string fingerprint_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  return fnv1a_hex(scenario.hash + cluster.gpu.hash + cluster.intra_node.hash);
}

std::string sentence_of(const UserError& error) {
  const auto& all = error.diagnostics();
  std::string text = all.front().message;
  if (all.size() > 1) text += fmt::format(" (and {} more)", all.size() - 1);
  return text;
}

}  // namespace stepsim
