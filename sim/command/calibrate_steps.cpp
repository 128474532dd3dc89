// stepsim calibrate steps: measured steps of one machine -> its constants, and what they are worth.
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/fit/step_factors.hpp"
#include "sim/command/answer/simulated_point.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/progress.hpp"
#include "sim/report/json_number.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"
#include "sim/validation/errors.hpp"

namespace stepsim {
namespace {

/// Judgement: steps of one setting that are measured twice differ by 1 to 2 %.
constexpr double kNoise = 0.02;
/// Factors at which sensitivities are taken: far enough for what steps hang on, near enough that
/// nothing else begins to bound them.
constexpr double kProbe = 1.2;
constexpr double kInsensitive = 0.005;
/// Judgement: what is left of the error where constants were learnt.
constexpr double kWorthwhile = 0.9;

/// A constant that differs from machine to machine more than from model to model.
struct Constant {
  const char* what;
  double known_sd;  ///< of its logarithm among machines of one kind
  /// Makes the constant so many times as slow; false: the scenario has none.
  bool (*slow)(Scenario& scenario, double times);
  /// Keys and values as they are now.
  std::vector<std::pair<std::string, double>> (*values)(const Scenario& scenario);
};

bool slow_products(Scenario& s, double times) {
  for (GemmProfile& gemm : s.cluster.gpu.gemm) gemm.sustained *= times;
  return true;
}

std::vector<std::pair<std::string, double>> values_of_products(const Scenario& s) {
  std::vector<std::pair<std::string, double>> values;
  for (const GemmProfile& gemm : s.cluster.gpu.gemm) {
    // What is not quantised in narrow formats is multiplied in bf16.
    const bool beside = bytes_per_element(s.training.precision) < 2;
    if (gemm.precision == s.training.precision || (beside && gemm.precision == Precision::bf16))
      values.emplace_back(fmt::format("cluster.gpu.gemm.{}.sustained", name_of(gemm.precision)),
                          gemm.sustained);
  }
  return values;
}

bool slow_network(Scenario& s, double times) {
  if (!s.cluster.inter_node || s.cluster.nodes < 2) return false;
  s.cluster.inter_node->efficiency = std::min(1.0, s.cluster.inter_node->efficiency / times);
  return true;
}

std::vector<std::pair<std::string, double>> values_of_network(const Scenario& s) {
  if (!s.cluster.inter_node) return {};
  return {{"cluster.inter_node.efficiency", s.cluster.inter_node->efficiency}};
}

bool slow_host(Scenario& s, double times) {
  if (s.host.graph()) return false;
  s.host.launch = s.host.launch * times;
  if (s.host.counts_calls()) s.host.speed /= times;
  return true;
}

std::vector<std::pair<std::string, double>> values_of_host(const Scenario& s) {
  std::vector<std::pair<std::string, double>> values{{"host.launch", s.host.launch.microseconds()}};
  if (s.host.counts_calls()) values.emplace_back("host.speed", s.host.speed);
  return values;
}

/// How far machines of one kind are apart: products of five B200 under load by 1.39 from one end to
/// the other (calib/README.md); fabrics of one rate by 0.8 to 0.98 of it; hosts by 18 to 43 us a
/// kernel (docs/host.md).
constexpr std::array kConstants{
    Constant{"matrix products under load", 0.10, slow_products, values_of_products},
    Constant{"network between nodes", 0.20, slow_network, values_of_network},
    Constant{"host", 0.35, slow_host, values_of_host}};
constexpr std::size_t kCount = kConstants.size();
using Times = std::array<double, kCount>;
constexpr Times kAsTheyAre{1, 1, 1};

struct Job {
  std::size_t run = 0;
  Times times = kAsTheyAre;
};

/// Simulates runs of one suite with constants that are slower.
class Predictor {
 public:
  Predictor(const LoadedSuite& loaded, const CalibrateStepsOptions& options, std::ostream& notes)
      : loaded_(loaded), options_(options), line_(notes, options.screen.progress) {}

  Scenario scenario(const Job& job) const {
    Scenario scenario = scenario_of(loaded_.suite, loaded_.runs[job.run], known_names());
    for (std::size_t i = 0; i < kCount; ++i) kConstants[i].slow(scenario, job.times[i]);
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
    const auto answers = run_forked(static_cast<int>(jobs.size()),
                                    options_.jobs > 0 ? options_.jobs : cores, work, Copies::kept);
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
  const CalibrateStepsOptions& options_;
  ProgressLine line_;
};

struct Row {
  std::string label;
  double measured = 0, before = 0, fitted = 0, held_out = 0;  ///< seconds
};

struct Found {
  Times times = kAsTheyAre;
  std::array<double, kCount> sd{};
  std::array<std::string, kCount> reasons;  ///< why a constant stays; empty: it was fitted
  std::array<std::vector<std::string>, kCount> settings;  ///< "host.speed=0.41"
  std::vector<Row> rows;
};

std::vector<double> relative_errors(const std::vector<Row>& rows, double Row::*predicted) {
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(row.*predicted / row.measured - 1);
  return errors;
}

/// Those that were measured, and are not known to be off.
std::vector<std::size_t> usable(const LoadedSuite& loaded) {
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < loaded.runs.size(); ++i) {
    const MeasuredRun& run = loaded.runs[i];
    if (run.measured && run.refusal.empty() && run.known.empty()) runs.push_back(i);
  }
  return runs;
}

Times times_of(const fit::StepFactors& factors, const std::vector<std::size_t>& fitted) {
  Times times = kAsTheyAre;
  for (std::size_t j = 0; j < fitted.size(); ++j) times[fitted[j]] = std::exp(factors.logs[j]);
  return times;
}

/// Sensitivities of all rows to all constants, a row a run.
std::vector<std::vector<double>> sensitivities(const Predictor& predictor,
                                               const std::vector<std::size_t>& runs,
                                               const std::vector<double>& before) {
  std::vector<Job> jobs;
  for (const std::size_t run : runs) {
    for (std::size_t i = 0; i < kCount; ++i) {
      jobs.push_back({run, kAsTheyAre});
      jobs.back().times[i] = kProbe;
    }
  }
  const std::vector<double> slower = predictor.predict(jobs);
  std::vector<std::vector<double>> all;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    std::vector<double>& one = all.emplace_back();
    for (std::size_t i = 0; i < kCount; ++i)
      one.push_back(std::log(slower[row * kCount + i] / before[row]) / std::log(kProbe));
  }
  return all;
}

/// The settings of a constant that all rows share which have it; none where they differ.
std::vector<std::string> settings_of(const Predictor& predictor,
                                     const std::vector<std::size_t>& runs, std::size_t constant,
                                     const Times& times) {
  std::vector<std::string> shared;
  for (const std::size_t run : runs) {
    Scenario scenario = predictor.scenario({run, times});
    if (!kConstants[constant].slow(scenario, 1)) continue;
    std::vector<std::string> here;
    for (const auto& [key, value] : kConstants[constant].values(scenario))
      here.push_back(fmt::format("{}={:.4g}{}", key, value, key == "host.launch" ? "us" : ""));
    if (shared.empty()) shared = here;
    if (here != shared) return {};
  }
  return shared;
}

Found found_in(const LoadedSuite& loaded, const Predictor& predictor) {
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

  Found found;
  std::vector<std::size_t> fitted;
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool matters =
        std::ranges::any_of(all, [&](const auto& row) { return std::abs(row[i]) > kInsensitive; });
    if (matters) fitted.push_back(i);
    if (!matters) found.reasons[i] = "no step hangs on it";
  }
  std::vector<std::vector<double>> slopes(runs.size());
  std::vector<double> known_sd, residuals;
  for (const std::size_t i : fitted) {
    known_sd.push_back(kConstants[i].known_sd);
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
  for (std::size_t row = 0; row < runs.size(); ++row) {
    residuals[row] = std::log(found.rows[row].measured / first[row]);
    left += residuals[row] * residuals[row];
    for (std::size_t j = 0; j < fitted.size(); ++j)
      residuals[row] += slopes[row][j] * factors.logs[j];
  }
  // Where more is left than steps differ by, the constants are known less well.
  const double noise = std::max(kNoise, std::sqrt(left / static_cast<double>(runs.size())));
  factors = fit::step_factors(slopes, residuals, known_sd, noise);
  found.times = times_of(factors, fitted);
  const std::vector<double> after = at(factors);
  std::vector<Job> held_out;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    found.rows[row].fitted = after[row];
    auto others = slopes;
    auto rest = residuals;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(row));
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(row));
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

constexpr int kRow = 46, kColumn = 11, kWhat = 30;

class StepsPage : Page {
 public:
  StepsPage(const Found& found, Screen screen) : Page(screen, 90, 100), it_(found) {}

  std::string text(const LoadedSuite& loaded) {
    heading(fmt::format("Constants of a machine, by {} measured steps of {}", it_.rows.size(),
                        loaded.suite.name));
    line();
    for (std::size_t i = 0; i < kCount; ++i) constant(i);
    line();
    line(pad_right("", kRow) + bold(pad_left("measured", kColumn)) +
         bold(pad_left("before", kColumn)) + bold(pad_left("fitted", kColumn)) +
         bold(pad_left("held out", kColumn)));
    for (const Row& row : it_.rows)
      line(pad_right(cut(row.label), kRow) +
           pad_left(humanise(Seconds{row.measured}).text(), kColumn) +
           pad_left(error(row.before, row), kColumn) + pad_left(error(row.fitted, row), kColumn) +
           pad_left(error(row.held_out, row), kColumn));
    line();
    summary("mean error", &Errors::mean);
    summary("bias", &Errors::bias);
    line();
    wrapped(
        "Held out: each step is predicted with constants by all the others. What that leaves is "
        "what to expect of a setting that is not among these.");
    if (mean(&Row::held_out) > kWorthwhile * mean(&Row::before))
      wrapped(
          "These constants do not explain the error: held out it is hardly less than before. Leave "
          "them as they were, and look whether the scenario is that of the runs.");
    return out_;
  }

 private:
  static std::string cut(const std::string& label) {
    if (width_of(label) < kRow - 1) return label;
    return label.substr(0, kRow - 5) + "...";
  }

  static std::string error(double predicted, const Row& row) {
    return signed_error(predicted / row.measured - 1);
  }

  void constant(std::size_t i) {
    const std::string name = pad_right(kConstants[i].what, kWhat);
    if (!it_.reasons[i].empty()) return line(name + "as it was: " + it_.reasons[i]);
    line(name +
         fmt::format("x {:.3f} of the time, give or take {:.0f} %", it_.times[i], 100 * it_.sd[i]));
    wrapped(it_.settings[i].empty()
                ? std::string("its value differs from row to row: make each so many times as slow")
                : fmt::format("--set {}", fmt::join(it_.settings[i], " --set ")),
            4);
  }

  double mean(double Row::*predicted) const {
    return errors_of(relative_errors(it_.rows, predicted)).mean;
  }

  void summary(const char* name, double Errors::*what) {
    std::string text = pad_right(name, kRow) + pad_left("", kColumn);
    for (double Row::*predicted : {&Row::before, &Row::fitted, &Row::held_out}) {
      const Errors errors = errors_of(relative_errors(it_.rows, predicted));
      const double value = errors.*what;
      text += pad_left(what == &Errors::bias ? signed_error(value) : error_text(value), kColumn);
    }
    line(text);
  }

  const Found& it_;
};

Json constant_json(const Found& found, std::size_t i) {
  return {{"name", kConstants[i].what},
          {"times_as_slow", number(found.times[i])},
          {"sd", number(found.sd[i])},
          {"settings", found.settings[i]},
          {"reason", text_or_null(found.reasons[i])}};
}

std::string to_json(const Found& found, const LoadedSuite& loaded) {
  Json constants = Json::array(), rows = Json::array();
  for (std::size_t i = 0; i < kCount; ++i) constants.push_back(constant_json(found, i));
  for (const Row& row : found.rows)
    rows.push_back({{"label", row.label},
                    {"measured_s", number(row.measured)},
                    {"before_s", number(row.before)},
                    {"fitted_s", number(row.fitted)},
                    {"held_out_s", number(row.held_out)}});
  return json_text({{"schema", "stepsim.step_calibration/1"},
                    {"suite", loaded.suite.name},
                    {"constants", constants},
                    {"rows", rows}});
}

}  // namespace

ExitCode calibrate_steps(const CalibrateStepsOptions& options, std::ostream& out,
                         std::ostream& notes) {
  const LoadedSuite loaded =
      load_suite({options.suite, options.table, options.filter}, known_names());
  check_filter(options.filter, {loaded});
  const Predictor predictor(loaded, options, notes);
  const Found found = found_in(loaded, predictor);
  out << (options.format == "json" ? to_json(found, loaded)
                                   : StepsPage(found, options.screen).text(loaded));
  return ExitCode::ok;
}

}  // namespace stepsim
