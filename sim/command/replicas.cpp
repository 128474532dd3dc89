// One forked process a replica.
#include "sim/command/replicas.hpp"

#include <charconv>
#include <thread>

#include <fmt/format.h>

#include "sim/command/forked.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure.hpp"

namespace stepsim {
namespace {

/// The shortest text that reads back as the same number.
std::string text_of(Seconds time) { return fmt::format("{}", time.seconds()); }

Seconds time_of(const std::string& text) {
  double seconds = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, seconds).ptr != end)
    throw InternalError("a replica answered '" + text + "'");
  return Seconds{seconds};
}

}  // namespace

Replicas run_replicas(const Scenario& scenario, const OpGraph& graph,
                      const ReplicaOptions& options) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const auto answers =
      run_forked(scenario.run.replicas, options.jobs > 0 ? options.jobs : cores, [&](int replica) {
        const Plan plan = make_plan(scenario, graph, {.replica = replica});
        return text_of(mean_step(simulate(plan, {.spans = false, .fold = options.fold}).timeline));
      });
  Replicas replicas{.asked = scenario.run.replicas};
  std::vector<int> numbers;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) continue;
    replicas.steps.push_back(time_of(*answers[i]));
    numbers.push_back(static_cast<int>(i));
  }
  if (numbers.empty()) throw UserError("interrupted before the first replica was done");
  replicas.statistics = statistics_of(replicas.steps);
  replicas.median = numbers[static_cast<std::size_t>(index_of_median(replicas.steps))];
  return replicas;
}

}  // namespace stepsim
