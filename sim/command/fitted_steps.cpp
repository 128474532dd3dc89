// Simulates the steps with slower constants, and solves for what was measured.
#include "sim/command/fitted_steps.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "sim/calibrate/fit/step_factors.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/measure.hpp"

namespace stepsim {
namespace {

/// Judgement: steps of one setting that are measured twice differ by 1 to 2 %.
constexpr double kNoise = 0.02;
/// Factors at which sensitivities are taken: far enough for what steps hang on, near enough that
/// nothing else begins to bound them.
constexpr double kProbe = 1.2;
constexpr double kInsensitive = 0.005;

struct Job {
  std::size_t run = 0;
  TimesAsSlow times = kAsTheyAre;
};

/// Simulates runs of one suite with constants that are slower.
class Predictor {
 public:
  Predictor(const LoadedSuite& loaded, int jobs, const ProgressLine& line)
      : loaded_(loaded), jobs_(jobs), line_(line) {}

  Scenario scenario(const Job& job) const {
    Scenario scenario = scenario_of(loaded_.suite, loaded_.runs[job.run], known_names());
    for (std::size_t i = 0; i < kMachineConstants; ++i)
      machine_constants[i].slow(scenario, job.times[i]);
    return scenario;
  }

  /// Seconds of a step of each; throws SimulationError after Ctrl-C.
  std::vector<double> predict(const std::vector<Job>& jobs) const {
    const auto work = [&](int i) {
      const Scenario s = scenario(jobs[static_cast<std::size_t>(i)]);
      const OpGraph graph = build(s);
      const Plan plan = make_plan(s, graph, {.folds = true});
      return text_of({measure(s, graph, simulate(plan)).step_time.seconds()});
    };
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const auto answers =
        run_forked(static_cast<int>(jobs.size()), jobs_ > 0 ? jobs_ : cores, work, Copies::kept);
    std::vector<double> seconds;
    for (const auto& answer : answers) {
      if (!answer) throw SimulationError("interrupted: nothing was calibrated");
      seconds.push_back(numbers_of(*answer).at(0));
    }
    return seconds;
  }
  void show(const char* stage) const { line_.show(stage); }

 private:
  const LoadedSuite& loaded_;
  int jobs_;  ///< simulations at the same time; 0: as many as there are cores
  const ProgressLine& line_;
};

/// The runs that have a scenario and a measured time, and are not known to be off.
std::vector<std::size_t> usable(const LoadedSuite& loaded) {
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < loaded.runs.size(); ++i) {
    const MeasuredRun& run = loaded.runs[i];
    if (run.measured && run.refusal.empty() && run.known.empty()) runs.push_back(i);
  }
  return runs;
}

TimesAsSlow times_of(const fit::StepFactors& factors, const std::vector<std::size_t>& fitted) {
  TimesAsSlow times = kAsTheyAre;
  for (std::size_t j = 0; j < fitted.size(); ++j) times[fitted[j]] = std::exp(factors.logs[j]);
  return times;
}

/// Sensitivities of all rows to all constants, a row a run.
std::vector<std::vector<double>> sensitivities(const Predictor& predictor,
                                               const std::vector<std::size_t>& runs,
                                               const std::vector<double>& before) {
  std::vector<Job> jobs;
  for (const std::size_t run : runs) {
    for (std::size_t i = 0; i < kMachineConstants; ++i) {
      jobs.push_back({run, kAsTheyAre});
      jobs.back().times[i] = kProbe;
    }
  }
  const std::vector<double> slower = predictor.predict(jobs);
  std::vector<std::vector<double>> all;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    std::vector<double>& one = all.emplace_back();
    for (std::size_t i = 0; i < kMachineConstants; ++i)
      one.push_back(std::log(slower[row * kMachineConstants + i] / before[row]) / std::log(kProbe));
  }
  return all;
}

/// The settings of a constant that all rows share which have it; none where they differ.
std::vector<std::string> settings_of(const Predictor& predictor,
                                     const std::vector<std::size_t>& runs, std::size_t constant,
                                     const TimesAsSlow& times) {
  std::vector<std::string> shared;
  for (const std::size_t run : runs) {
    Scenario scenario = predictor.scenario({run, times});
    if (!machine_constants[constant].slow(scenario, 1)) continue;
    const std::vector<std::string> here = machine_constants[constant].settings(scenario);
    if (shared.empty()) shared = here;
    if (here != shared) return {};
  }
  return shared;
}

}  // namespace

FittedSteps fit_steps(const LoadedSuite& loaded, int at_a_time, const ProgressLine& line) {
  const Predictor predictor(loaded, at_a_time, line);
  const std::vector<std::size_t> runs = usable(loaded);
  if (runs.size() < 2)
    throw UserError(fmt::format(
        "{}: {} usable row{}, and at least two are needed: one to learn from, one to judge by",
        loaded.suite.name, runs.size(), runs.size() == 1 ? "" : "s"));
  predictor.show("predicting the rows");
  std::vector<Job> plain;
  for (const std::size_t run : runs) plain.push_back({run, kAsTheyAre});
  const std::vector<double> before = predictor.predict(plain);
  predictor.show("what the steps hang on");
  const auto all = sensitivities(predictor, runs, before);

  FittedSteps found;
  std::vector<std::size_t> fitted;
  for (std::size_t i = 0; i < kMachineConstants; ++i) {
    const bool matters =
        std::ranges::any_of(all, [&](const auto& row) { return std::abs(row[i]) > kInsensitive; });
    if (matters) fitted.push_back(i);
    if (!matters) found.reasons[i] = "no step hangs on it";
  }
  std::vector<std::vector<double>> slopes(runs.size());
  std::vector<double> known_sd, residuals;
  for (const std::size_t i : fitted) {
    known_sd.push_back(machine_constants[i].known_sd);
    for (std::size_t row = 0; row < runs.size(); ++row) slopes[row].push_back(all[row][i]);
  }
  for (std::size_t row = 0; row < runs.size(); ++row) {
    const MeasuredRun& run = loaded.runs[runs[row]];
    residuals.push_back(std::log(run.measured->seconds() / before[row]));
    found.rows.push_back({run.label, run.measured->seconds(), before[row], 0, 0});
  }
  predictor.show("fitting");
  // Steps are not quite linear in their constants: what the first fit leaves is fitted once more.
  fit::StepFactors factors = fit::step_factors(slopes, residuals, known_sd, kNoise);
  const auto at = [&](const fit::StepFactors& those) {
    std::vector<Job> jobs;
    for (const std::size_t run : runs) jobs.push_back({run, times_of(those, fitted)});
    return predictor.predict(jobs);
  };
  const std::vector<double> first = at(factors);
  double left = 0;
  std::vector<double> squares;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    residuals[row] = std::log(found.rows[row].measured / first[row]);
    squares.push_back(residuals[row] * residuals[row]);
    left += squares.back();
    for (std::size_t j = 0; j < fitted.size(); ++j)
      residuals[row] += slopes[row][j] * factors.logs[j];
  }
  // Where more is left than steps differ by, the constants are known less well.
  const auto noise_of = [](double sum, std::size_t rows) {
    return std::max(kNoise, std::sqrt(std::max(0.0, sum) / static_cast<double>(rows)));
  };
  factors = fit::step_factors(slopes, residuals, known_sd, noise_of(left, runs.size()));
  found.times = times_of(factors, fitted);
  const std::vector<double> after = at(factors);
  std::vector<Job> held_out;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    found.rows[row].fitted = after[row];
    auto others = slopes;
    auto rest = residuals;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(row));
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(row));
    const double noise = noise_of(left - squares[row], runs.size() - 1);
    held_out.push_back(
        {runs[row], times_of(fit::step_factors(others, rest, known_sd, noise), fitted)});
  }
  predictor.show("judging");
  const std::vector<double> judged = predictor.predict(held_out);
  for (std::size_t row = 0; row < runs.size(); ++row) found.rows[row].held_out = judged[row];
  for (std::size_t j = 0; j < fitted.size(); ++j) {
    found.sd[fitted[j]] = factors.sd[j];
    found.settings[fitted[j]] = settings_of(predictor, runs, fitted[j], found.times);
  }
  return found;
}

}  // namespace stepsim
