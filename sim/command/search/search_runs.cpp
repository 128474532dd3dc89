// Forked copies for a search.
#include "sim/command/search/search_runs.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/command/answer/counterfactuals.hpp"
#include "sim/command/answer/long_run.hpp"
#include "sim/command/answer/second_step.hpp"
#include "sim/core/duration.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/load.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/describe/lacking.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

constexpr std::string_view kRefused = "refused ";

ScenarioArgument with(ScenarioArgument argument, const std::vector<std::string>& settings) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return argument;
}

Seconds mean_step_of(const Scenario& scenario, const OpGraph& graph, PlanCache& cache) {
  if (const auto second = second_step(scenario, graph, cache))
    return mean_step(second->simulation.timeline);
  return step_of(make_plan(scenario, graph, {.folds = true, .cache = &cache}));
}

/// Seconds of a step, bytes and MFU; the step is 0 where it does not fit, or leaves no margin where
/// one is wanted.
std::string simulated(const Scenario& scenario, PlanCache& cache, bool with_margin) {
  const OpGraph graph = build(scenario);
  const Memory memory{memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{},
                      scenario.parallelism.pipeline.chunks, scenario.run.memory_margin};
  const double peak = memory.worst().total().bytes();
  if (with_margin ? !memory.leaves_margin() : !memory.fits()) return text_of({0, peak, 0});
  const Seconds step = mean_step_of(scenario, graph, cache);
  const FlopsPerSecond rate = peak_rate(scenario.cluster.gpu, scenario.training.precision);
  const double possible = rate.flops_per_second() * scenario.cluster.gpus() * step.seconds();
  return text_of({step.seconds(), peak, graph.model_flops.flops() / possible});
}

/// A deadlock is what simulating it comes to; after a crash or a limit it might have an answer.
StrategyOutcome failed(const Ended& ended) {
  return {.refusal = {},
          .failure = ended.text,
          .is_open = ended.how != Ending::simulation_error,
          .is_defect = ended.how == Ending::internal_error,
          .peak = {},
          .fits = false,
          .step = {}};
}

StrategyOutcome outcome_of(const Ended& ended) {
  if (ended.how != Ending::result) return failed(ended);
  const std::string& answer = ended.text;
  if (answer.starts_with(kRefused)) return {.refusal = answer.substr(kRefused.size())};
  const std::vector<double> numbers = numbers_of(answer);
  if (numbers.size() != 3) throw InternalError("a strategy answered '" + answer + "'");
  return {.refusal = {},
          .failure = {},
          .peak = Bytes{numbers[1]},
          .fits = numbers[0] > 0,
          .step = Seconds{numbers[0]},
          .mfu = numbers[2]};
}

CauseSeconds breakdown_of(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  return measure(scenario, graph, simulate(make_plan(scenario, graph, {.folds = true}))).breakdown;
}

/// The mean GPU's seconds by cause in a step, and with `fails` wall time, goodput and the idle share
/// of the run that the scenario's horizon asks for.
std::string training_of(const Scenario& scenario, bool fails) {
  const OpGraph graph = build(scenario);
  PlanCache cache;
  const PlanOptions options{.folds = true, .cache = &cache};
  const Simulation simulation = simulate(make_plan(scenario, graph, options));
  Metrics metrics = measure(scenario, graph, simulation);
  std::vector<double> numbers(metrics.all_ranks.begin(), metrics.all_ranks.end());
  if (!fails) return text_of(numbers);
  metrics.checkpoint = checkpoint_cost(scenario, graph, options);
  const LongRun run =
      simulate_long_run(metrics, scenario, graph, simulation.timeline, options, true);
  numbers.insert(numbers.end(), {run.wall.seconds(), run.shares.useful, run.shares.idle()});
  return text_of(numbers);
}

}  // namespace

SearchBase search_base(const ScenarioArgument& argument, const Library& library) {
  const auto keys = stated_keys(argument);
  const auto stated = [&](const char* path) { return keys.count(path) > 0; };
  return search_base(load(argument, library),
                     {.overlap_p2p = stated("parallelism.pipeline.overlap_p2p"),
                      .batch_p2p_sync = stated("parallelism.pipeline.batch_p2p_sync"),
                      .no_sync = stated("parallelism.data.no_sync"),
                      .overlap = stated("parallelism.data.overlap"),
                      .bucket = stated("parallelism.data.bucket"),
                      .first_bucket = stated("parallelism.data.first_bucket"),
                      .degree = stated("parallelism.data.degree"),
                      .shard_degree = stated("parallelism.data.shard_degree"),
                      .broadcast_buffers = stated("parallelism.data.broadcast_buffers"),
                      .dtensor = stated("parallelism.dtensor"),
                      .steps = stated("run.steps"),
                      .warmup = stated("run.warmup")});
}

SearchRuns::SearchRuns(const SearchOptions& options, const SearchBase& base, const Library& library,
                       PlanCache& cache)
    : options_(options), base_(base), library_(library), cache_(cache) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  jobs_ = options.jobs > 0 ? options.jobs : std::max(cores, 1);
  limits_.seconds = duration_of("--strategy-timeout", options.strategy_timeout);
}

std::vector<std::optional<StrategyOutcome>> SearchRuns::outcomes_of(
    int count, const std::function<std::string(int)>& work, const Until& until) const {
  ForkLimits limits = limits_;
  limits.until = until;
  limits.copies = Copies::kept;
  std::vector<std::optional<StrategyOutcome>> outcomes(static_cast<std::size_t>(count));
  std::int64_t next = 0;
  stream_forked([&] { return next < count ? std::optional(next++) : std::nullopt; }, jobs_, limits,
                [&](std::int64_t index) { return work(static_cast<int>(index)); },
                [&](const Ended& ended) {
                  outcomes[static_cast<std::size_t>(ended.index)] = outcome_of(ended);
                });
  return outcomes;
}

std::vector<std::optional<StrategyOutcome>> SearchRuns::of(const std::vector<TriedStrategy>& batch,
                                                           const Until& until) const {
  const auto answer = [&](int index) {
    return answer_of(batch[static_cast<std::size_t>(index)].strategy);
  };
  return outcomes_of(static_cast<int>(batch.size()), answer, until);
}

std::string SearchRuns::answer_of(const Strategy& strategy) const {
  Scenario scenario;
  try {
    scenario = load(options_.scenario, settings_of(strategy, base_), library_);
  } catch (const UserError& error) {
    return std::string(kRefused) + error.what();
  }
  Scenario bounded = base_.scenario;
  set_strategy(bounded, strategy, base_);
  bounded.hash = scenario.hash;
  if (!(bounded == scenario))
    throw InternalError("the search and the reader disagree about " + strategy_text(strategy));
  try {
    return simulated(scenario, cache_, true);
  } catch (const UserError& error) {
    return std::string(kRefused) + error.what();
  }
}

std::optional<StrategyOutcome> SearchRuns::own(const Until& until) const {
  const auto answer = [&](int) -> std::string {
    try {
      return simulated(base_.scenario, cache_, false);
    } catch (const UserError& error) {
      return std::string(kRefused) + error.what();
    }
  };
  auto own = outcomes_of(1, answer, until).front();
  if (own && !own->refusal.empty()) throw UserError(own->refusal);
  return own;
}

ScenarioArgument SearchRuns::argument_of(const TriedStrategy& tried) const {
  if (tried.is_own) return options_.scenario;
  return with(options_.scenario, settings_of(tried.strategy, base_));
}

std::vector<FrameworkFit> SearchRuns::frameworks_of(const TriedStrategy& best) const {
  const Scenario scenario = load(argument_of(best), library_);
  std::vector<FrameworkFit> fits;
  for (const auto& [name, framework] : kNames<Framework>) {
    FrameworkFit fit{std::string(name), {}};
    for (const Lack& lack : lacking(framework, scenario))
      fit.lacks.push_back(lack.key + " " + lack.value);
    fits.push_back(std::move(fit));
  }
  return fits;
}

std::optional<SearchReason> SearchRuns::reason_of(const TriedStrategy& best) const {
  const Scenario scenario = load(argument_of(best), library_);
  const auto answers = run_forked(2, jobs_, [&](int index) {
    const CauseSeconds causes = breakdown_of(index == 0 ? base_.scenario : scenario);
    return text_of(std::vector<double>(causes.begin(), causes.end()));
  });
  SearchReason reason;
  for (const auto& [answer, causes] :
       {std::pair{answers[0], &reason.own}, std::pair{answers[1], &reason.best}}) {
    if (!answer) return std::nullopt;
    const std::vector<double> numbers = numbers_of(*answer);
    if (numbers.size() != causes->size()) throw InternalError("causes are missing: " + *answer);
    std::copy(numbers.begin(), numbers.end(), causes->begin());
  }
  return reason;
}

std::optional<TrainedRun> SearchRuns::trained(const TriedStrategy& best, std::int64_t steps) const {
  const Scenario& s = base_.scenario;
  TrainedRun run{.steps = static_cast<double>(steps),
                 .tokens = static_cast<double>(steps) * s.tokens_per_step(),
                 .wall = best.outcome.step * static_cast<double>(steps),
                 .goodput = {},
                 .energy = {}};
  const bool fails = s.checkpoint || s.reliability;
  const bool has_power = s.cluster.gpu.power_limit.value > 0;
  if (!fails && !has_power) return run;
  const Scenario scenario =
      load(argument_of(best), {fmt::format("run.horizon={} steps", steps)}, library_);
  const auto answer = run_forked(1, 1, [&](int) { return training_of(scenario, fails); }).front();
  // Without failures the days are known all the same.
  if (!answer) return fails ? std::nullopt : std::optional(run);
  const std::vector<double> numbers = numbers_of(*answer);
  CauseSeconds mean{};
  if (numbers.size() != mean.size() + (fails ? 3 : 0))
    throw InternalError("numbers of a training are missing: " + *answer);
  std::copy_n(numbers.begin(), mean.size(), mean.begin());
  run.energy = energy_of(scenario, mean);
  if (!fails) return run;
  run.wall = Seconds{numbers[mean.size()]};
  run.goodput = numbers[mean.size() + 1];
  run.idle = numbers[mean.size() + 2];
  return run;
}

}  // namespace stepsim
