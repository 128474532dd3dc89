// stepsim search: the best strategy for a scenario, bounded by hand, confirmed by simulation.
#include <algorithm>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/command/command.hpp"
#include "sim/command/counterfactuals.hpp"
#include "sim/command/forked.hpp"
#include "sim/command/load.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/file.hpp"
#include "sim/report/humanise.hpp"
#include "sim/report/measure.hpp"
#include "sim/report/search_report.hpp"
#include "sim/scenario/stated.hpp"
#include "sim/search/best_first.hpp"

namespace stepsim {
namespace {

SearchBase base_of(const ScenarioArgument& argument) {
  SearchBase base{.scenario = load(argument), .stated = {}};
  std::vector<Override> overrides;
  for (const std::string& text : argument.overrides) overrides.push_back(parse_override(text));
  const auto keys = stated_keys(argument.path, overrides);
  const auto stated = [&](const char* path) { return keys.count(path) > 0; };
  base.stated = {.overlap_p2p = stated("parallelism.pipeline.overlap_p2p"),
                 .no_sync = stated("parallelism.data.no_sync"),
                 .overlap = stated("parallelism.data.overlap"),
                 .bucket = stated("parallelism.data.bucket"),
                 .first_bucket = stated("parallelism.data.first_bucket"),
                 .degree = stated("parallelism.data.degree"),
                 .shard_degree = stated("parallelism.data.shard_degree"),
                 .steps = stated("run.steps"),
                 .warmup = stated("run.warmup")};
  return base;
}

ScenarioArgument with(ScenarioArgument argument, const std::vector<std::string>& settings) {
  argument.overrides.insert(argument.overrides.end(), settings.begin(), settings.end());
  return argument;
}

/// Seconds of a step and bytes, where it fits; the step is 0 where it does not.
std::string simulated(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  const Memory memory{memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{},
                      scenario.parallelism.pipeline.chunks};
  const double peak = memory.worst().total().bytes();
  if (!memory.fits()) return text_of({0, peak, 0});
  const Seconds step = step_of(make_plan(scenario, graph));
  const double rate =
      peak_rate(scenario.cluster.gpu, scenario.training.precision).flops_per_second();
  return text_of({step.seconds(), peak,
                  graph.model_flops.flops() / (rate * scenario.cluster.gpus() * step.seconds())});
}

StrategyOutcome outcome_of(const std::string& answer) {
  const std::vector<double> numbers = numbers_of(answer);
  if (numbers.size() != 3) throw InternalError("a strategy answered '" + answer + "'");
  return {.refusal = {},
          .peak = Bytes{numbers[1]},
          .fits = numbers[0] > 0,
          .step = Seconds{numbers[0]},
          .mfu = numbers[2]};
}

class Simulations {
 public:
  Simulations(const SearchOptions& options, const SearchBase& base)
      : options_(options), base_(base) {
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    jobs_ = options.jobs > 0 ? options.jobs : std::max(cores, 1);
  }

  /// Each as `stepsim run --set ...` would.
  std::vector<std::optional<StrategyOutcome>> of(const std::vector<TriedStrategy>& batch) const {
    const auto answers = run_forked(static_cast<int>(batch.size()), jobs_, [&](int index) {
      return answer_of(batch[static_cast<std::size_t>(index)].strategy);
    });
    std::vector<std::optional<StrategyOutcome>> outcomes;
    for (const auto& answer : answers) {
      outcomes.emplace_back();
      if (!answer) continue;
      const bool refused = answer->starts_with(kRefused);
      outcomes.back() = refused ? StrategyOutcome{.refusal = answer->substr(kRefused.size())}
                                : outcome_of(*answer);
    }
    return outcomes;
  }

  /// The scenario as it stands.
  std::optional<StrategyOutcome> own() const {
    const auto answer = run_forked(1, 1, [&](int) { return simulated(base_.scenario); }).front();
    return answer ? std::optional(outcome_of(*answer)) : std::nullopt;
  }

 private:
  static constexpr std::string_view kRefused = "refused ";

  std::string answer_of(const Strategy& strategy) const {
    Scenario scenario;
    try {
      scenario = load(with(options_.scenario, settings_of(strategy, base_)));
    } catch (const UserError& error) {
      return std::string(kRefused) + error.what();
    }
    Scenario bounded = base_.scenario;
    set_strategy(bounded, strategy, base_);
    bounded.hash = scenario.hash;
    if (!(bounded == scenario))
      throw InternalError("the search and the reader disagree about " + strategy_text(strategy));
    return simulated(scenario);
  }

  const SearchOptions& options_;
  const SearchBase& base_;
  int jobs_ = 1;
};

/// A word for the shell.
std::string quoted_word(const std::string& word) {
  const char* special = " ~{}[]*?$&|;<>()\"'\\";
  if (word.find_first_of(special) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string command_of(const ScenarioArgument& argument) {
  std::string text = "stepsim run " + quoted_word(argument.path);
  for (const std::string& setting : argument.overrides) text += " --set " + quoted_word(setting);
  return text;
}

CauseSeconds breakdown_of(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  return measure(scenario, graph, simulate(make_plan(scenario, graph))).breakdown;
}

/// Why the best is better than the scenario's own.
std::optional<SearchReason> reason_of(const Scenario& own, const Scenario& best) {
  const auto answers = run_forked(2, 2, [&](int index) {
    const CauseSeconds causes = breakdown_of(index == 0 ? own : best);
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

/// One line that is written again and again.
class ProgressLine {
 public:
  ProgressLine(bool is_on, std::ostream& notes) : is_on_(is_on), notes_(notes) {}
  ~ProgressLine() {
    if (is_on_) notes_ << "\r\33[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void operator()(const SearchProgress& now) const {
    if (!is_on_) return;
    notes_ << fmt::format("\r\33[K{} strategies, {} simulated", grouped(now.considered),
                          now.simulated);
    if (now.best) notes_ << ", best " << humanise(*now.best).text();
    notes_ << std::flush;
  }

 private:
  bool is_on_;
  std::ostream& notes_;
};

/// What `stepsim run` takes to run it.
ScenarioArgument argument_of(const SearchOptions& options, const SearchBase& base,
                             const TriedStrategy& tried) {
  if (tried.is_own) return options.scenario;
  return with(options.scenario, settings_of(tried.strategy, base));
}

SearchReport report_of(const SearchOptions& options, const SearchBase& base,
                       const std::optional<StrategyOutcome>& own, SearchOutcome outcome) {
  const Scenario& s = base.scenario;
  SearchReport report{.scenario = s.name,
                      .model = s.model.name,
                      .gpu = s.cluster.gpu.name,
                      .gpus = s.cluster.gpus(),
                      .capacity = s.cluster.gpu.memory,
                      .global_batch = s.training.global_batch,
                      .own = own,
                      .outcome = std::move(outcome),
                      .commands = {},
                      .listed = {},
                      .reason = {}};
  report.listed = listed_of(report.outcome, static_cast<std::size_t>(options.keep));
  for (const TriedStrategy& tried : report.listed)
    report.commands.push_back(command_of(argument_of(options, base, tried)));
  if (report.listed.empty() || !own || !own->fits || report.listed.front().is_own) return report;
  report.reason = reason_of(s, load(argument_of(options, base, report.listed.front())));
  return report;
}

std::string formatted(const SearchOptions& options, const SearchReport& report) {
  if (options.format == "json") return search_json(report);
  if (options.format == "csv") return search_csv(report);
  return search_text(report, {.colour = options.colour, .width = options.width});
}

}  // namespace

ExitCode search(const SearchOptions& options, std::ostream& out, std::ostream& notes) {
  const SearchBase base = base_of(options.scenario);
  Axes axes = axes_of(base, {base.scenario.cluster.gpus()});
  for (const std::string& only : options.only) restrict_axis(axes, only);
  const Simulations simulations(options, base);
  const auto own = simulations.own();
  if (!own) throw UserError("interrupted before the scenario itself was simulated");
  SearchLimits limits{.simulations = options.simulations,
                      .keep = static_cast<std::size_t>(options.keep),
                      .capacity = base.scenario.cluster.gpu.memory,
                      .own = {}};
  if (own->fits) limits.own = TriedStrategy{own_strategy(base.scenario), {}, *own, true};
  SearchOutcome outcome;
  {
    const ProgressLine progress(options.progress, notes);
    outcome = search(
        axes, base, limits,
        [&](const std::vector<TriedStrategy>& batch) { return simulations.of(batch); },
        [&](const SearchProgress& now) { progress(now); });
  }
  const SearchReport report = report_of(options, base, own, std::move(outcome));
  out << formatted(options, report);
  if (!options.output.empty() && !report.listed.empty()) {
    save_file(options.output, to_yaml(load(argument_of(options, base, report.listed.front()))));
    notes << fmt::format("{}: written; stepsim run {}\n", options.output, options.output);
  }
  if (report.outcome.interrupted) return ExitCode::incomplete;
  return report.listed.empty() ? ExitCode::expectation_failed : ExitCode::ok;
}

}  // namespace stepsim
