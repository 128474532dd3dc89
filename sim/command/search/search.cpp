// stepsim search: the best strategy for a scenario, on its own number of GPUs or on several.
#include "sim/command/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>

#include <fmt/format.h>

#include "sim/command/search/search_clusters.hpp"
#include "sim/command/search/search_request.hpp"
#include "sim/command/search/search_runs.hpp"
#include "sim/core/duration.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/progress.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/search/possible_values.hpp"
#include "sim/text/file.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

std::string command_of(const ScenarioArgument& argument) {
  std::string text = "stepsim run " + shell_word(argument.path);
  for (const std::string& setting : argument.overrides) text += " --set " + shell_word(setting);
  return text;
}

/// The share of a time budget for bounds: what is left simulates the best of those that have one.
constexpr double kBounding = 0.5;

/// The time that a search may take.
class Budget {
 public:
  explicit Budget(std::optional<double> seconds) : seconds_(seconds) {}
  /// Whether that share of it is over; never without a budget.
  bool over(double share) const {
    return seconds_ &&
           std::chrono::duration<double>(Clock::now() - begin_).count() >= share * *seconds_;
  }
  std::optional<std::chrono::steady_clock::time_point> end() const {
    if (!seconds_) return std::nullopt;
    return begin_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(std::min(*seconds_, kMostSeconds)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kMostSeconds = 1e9;  ///< a clock counts nanoseconds in 64 bits

  std::optional<double> seconds_;
  Clock::time_point begin_ = Clock::now();
};

std::string progress_text(int gpus, const SearchProgress& now) {
  std::string text = fmt::format("{} GPUs: {} strategies, {} simulated", grouped(gpus),
                                 grouped(now.considered), now.simulated);
  if (now.best) text += ", best " + humanise(*now.best).text();
  return text;
}

class SearchCommand {
 public:
  SearchCommand(const SearchOptions& options, std::ostream& notes)
      : options_(options),
        notes_(notes),
        library_(library_for(options.scenario.path)),
        base_(search_base(options.scenario, library_)),
        runs_(options, base_, library_, cache_),
        sizes_(sizes_of(options, base_.scenario.cluster)),
        steps_(steps_of(options, base_.scenario)),
        deadline_(deadline_of(options, steps_)),
        budget_(options.budget.empty() ? std::nullopt
                                       : std::optional(duration_of("--budget", options.budget))) {
    if (!options.objective.empty()) check_objective(options.objective);
    if (sizes_.size() == 1) check_for_one_size(options);
    check_outputs(
        {scenario_output(options), html_output(options.html, options.force, kSearchPages)});
    check_only(options);
    for (const int gpus : sizes_) axes_of_size(gpus);  // mistakes first
    check_some_are_left();
  }

  const std::vector<int>& sizes() const { return sizes_; }

  SearchReport report(int gpus) {
    const Scenario& s = base_.scenario;
    const Budget budget(budget_);
    SearchReport report{.scenario = s.name,
                        .model = s.model.name,
                        .gpu = s.cluster.gpu.name,
                        .gpus = gpus,
                        .capacity = s.cluster.gpu.memory,
                        .usable = s.usable_memory(),
                        .global_batch = s.training.global_batch,
                        .own = own(gpus, budget),
                        .interrupted = false,
                        .outcome = {},
                        .commands = {},
                        .listed = {},
                        .reason = {},
                        .run = {},
                        .no_run = {},
                        .dollars_per_hour = {},
                        .deadline = deadline_,
                        .is_restricted = !options_.only.empty(),
                        .frameworks = {}};
    if (s.cost) report.dollars_per_hour = s.cost->price.dollars_per_hour;
    report.outcome = found(gpus, report.own, budget);
    report.interrupted = report.outcome.interrupted();
    report.listed = listed_of(report.outcome, static_cast<std::size_t>(options_.keep));
    for (const TriedStrategy& tried : report.listed)
      report.commands.push_back(command_of(runs_.argument_of(tried)));
    if (report.listed.empty() || report.interrupted) return report;
    const TriedStrategy& best = report.listed.front();
    if (!s.framework) report.frameworks = runs_.frameworks_of(best);
    if (steps_) follow_training(best, report);
    const bool compares = sizes_.size() == 1 && report.own && report.own->fits && !best.is_own;
    if (compares && !budget.over(1)) report.reason = runs_.reason_of(best);
    report.interrupted = InterruptNoted::came();
    return report;
  }

  CapacityReport capacity() {
    const Scenario& s = base_.scenario;
    CapacityReport report{
        .scenario = s.name,
        .model = s.model.name,
        .gpu = s.cluster.gpu.name,
        .global_batch = s.training.global_batch,
        .tokens_per_step = s.tokens_per_step(),
        .dollars_per_hour = {},
        .objective = options_.objective.empty() ? default_objective(options_) : options_.objective,
        .deadline = deadline_,
        .points = {},
        .not_searched = {},
        .best = {}};
    if (s.cost) report.dollars_per_hour = s.cost->price.dollars_per_hour;
    for (const int gpus : sizes_) {
      if (InterruptNoted::came()) {
        report.not_searched.push_back(gpus);
        continue;
      }
      report.points.push_back({.search = this->report(gpus)});
    }
    if (!options_.only.empty() && report.not_searched.empty() && none_fit_together(report))
      throw UserError(nothing_fits_text());
    rank_sizes(report);
    return report;
  }

  /// The best as a scenario of its own.
  void write(const SearchReport& report) const {
    if (options_.output.empty() || report.listed.empty()) return;
    const std::string text = to_yaml(load(runs_.argument_of(report.listed.front()), library_));
    save_file(scenario_output(options_), sealed(text, kSearchCommand));
    notes_ << fmt::format("{}: written; stepsim run {}\n", shown_path(options_.output),
                          shell_word(options_.output));
  }

 private:
  /// The whole training; why it cannot be followed does not take the search away.
  void follow_training(const TriedStrategy& best, SearchReport& report) const {
    try {
      report.run = runs_.trained(best, *steps_);
    } catch (const UserError& error) {
      report.no_run = error.what();
    } catch (const SimulationError& error) {
      report.no_run = error.what();
    }
  }

  /// Refuses --only with values that no size can have.
  void check_some_are_left() const {
    for (const int gpus : sizes_) {
      const std::string idle = idle_values(axes_of_size(gpus), base_);
      if (!idle.empty()) throw UserError(only_text() + ": " + idle);
    }
    std::string text;
    for (const int gpus : sizes_) {
      text = possible_values(axes_of(base_, {gpus}), axes_of_size(gpus));
      if (text.empty()) return;
    }
    throw UserError(fmt::format("{}: on {} GPUs {}", only_text(), grouped(sizes_.back()), text));
  }

  std::string only_text() const {
    std::string text;
    for (const std::string& only : options_.only)
      text += (text.empty() ? "" : " ") + ("--only " + only);
    return text;
  }

  std::string nothing_fits_text() const {
    const std::string undivided =
        sizes_.size() == 1 ? undivided_text(base_.scenario.training.global_batch, sizes_.front())
                           : "";
    return only_text() + ": no strategy that fits together is left" + undivided +
           "; try without one of them";
  }

  static bool none_fit_together(const SearchOutcome& outcome) {
    return outcome.counts.considered == outcome.counts.refused && outcome.is_whole;
  }
  static bool none_fit_together(const CapacityReport& report) {
    return std::ranges::all_of(report.points, [](const CapacityPoint& point) {
      return none_fit_together(point.search.outcome);
    });
  }

  Axes axes_of_size(int gpus) const {
    Axes axes = axes_of(base_, {gpus});
    for (const std::string& only : options_.only) restrict_axis(axes, only);
    return axes;
  }

  /// Where the scenario has so many GPUs.
  std::optional<StrategyOutcome> own(int gpus, const Budget& budget) const {
    if (gpus != base_.scenario.cluster.gpus()) return std::nullopt;
    return runs_.own(budget.end());
  }

  SearchOutcome found(int gpus, const std::optional<StrategyOutcome>& own,
                      const Budget& budget) const {
    SearchLimits limits{.simulations = options_.simulations,
                        .enough = [&] { return budget.over(kBounding); },
                        .expired = [&] { return budget.over(1); },
                        .interrupted = InterruptNoted::came,
                        .keep = sizes_.size() > 1 ? 1 : static_cast<std::size_t>(options_.keep),
                        .capacity = base_.scenario.usable_memory(),
                        .own = {}};
    if (own && own->fits && own->peak <= limits.capacity)
      limits.own = TriedStrategy{own_strategy(base_.scenario), {}, *own, true};
    const ProgressLine progress(notes_, options_.screen.progress);
    SearchOutcome outcome = search(
        axes_of_size(gpus), base_, limits,
        [&](const std::vector<TriedStrategy>& batch) { return runs_.of(batch, budget.end()); },
        [&](const SearchProgress& now) { progress.show(progress_text(gpus, now)); });
    if (outcome.ranked.empty() && !outcome.refusal.empty()) throw UserError(outcome.refusal);
    if (sizes_.size() == 1 && !options_.only.empty() && none_fit_together(outcome))
      throw UserError(nothing_fits_text());
    return outcome;
  }

  const SearchOptions& options_;
  std::ostream& notes_;
  Library library_;
  SearchBase base_;
  PlanCache cache_;
  SearchRuns runs_;
  std::vector<int> sizes_;
  std::optional<std::int64_t> steps_;
  std::optional<Seconds> deadline_;
  std::optional<double> budget_;  ///< seconds
};

std::string formatted(const SearchOptions& options, const SearchReport& report) {
  if (options.format == "json") return search_json(report);
  if (options.format == "csv") return search_csv(report);
  return search_text(report, options.screen);
}

std::string formatted(const SearchOptions& options, const CapacityReport& report) {
  if (options.format == "json") return capacity_json(report);
  if (options.format == "csv") return capacity_csv(report);
  return capacity_text(report, options.screen);
}

bool is_incomplete(const SearchReport& report) {
  return report.interrupted || !report.no_run.empty();
}

ExitCode code_of(const SearchReport& report) {
  if (report.outcome.counts.has_defect()) return ExitCode::internal;
  if (is_incomplete(report)) return ExitCode::incomplete;
  const bool late = report.deadline && report.run && report.run->wall > *report.deadline;
  return report.listed.empty() || late ? ExitCode::expectation_failed : ExitCode::ok;
}

/// A deadline that no size is known to meet is missed only where all of them are decided.
ExitCode code_of(const CapacityReport& report) {
  const auto is_open = [](const CapacityPoint& point) { return is_incomplete(point.search); };
  const auto has_defect = [](const CapacityPoint& point) {
    return point.search.outcome.counts.has_defect();
  };
  if (std::ranges::any_of(report.points, has_defect)) return ExitCode::internal;
  if (!report.not_searched.empty() || std::ranges::any_of(report.points, is_open))
    return ExitCode::incomplete;
  if (report.best) return ExitCode::ok;
  return undecided(report).empty() ? ExitCode::expectation_failed : ExitCode::incomplete;
}

}  // namespace

SearchReport search_report(const SearchOptions& options, std::ostream& notes) {
  SearchCommand command(options, notes);
  if (command.sizes().size() > 1)
    throw UserError(fmt::format("--gpus {}: one number of GPUs is wanted", options.gpus));
  return command.report(command.sizes().front());
}

ExitCode search(const SearchOptions& stated, std::ostream& out, std::ostream& notes) {
  const SearchOptions options = resolved(stated);
  if (!options.clusters.empty()) return search_clusters(options, out, notes);
  SearchCommand command(options, notes);
  const InterruptNoted noted;  // notes Ctrl-C in all searches and in what follows them
  if (command.sizes().size() == 1) {
    const SearchReport report = command.report(command.sizes().front());
    out << formatted(options, report);
    write_page(options, {"search", report.scenario, search_json(report)}, notes);
    command.write(report);
    return code_of(report);
  }
  const CapacityReport report = command.capacity();
  out << formatted(options, report);
  write_page(options, {"capacity", report.scenario, capacity_json(report)}, notes);
  if (report.best) command.write(report.points[*report.best].search);
  return code_of(report);
}

}  // namespace stepsim
