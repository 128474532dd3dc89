// stepsim validate: suites of measured runs -> predictions -> scores.
#include "sim/command/validate.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/command/answer/simulated_point.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/core/trim.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/progress.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/report/validation.hpp"
#include "sim/scenario/job_fingerprint.hpp"
#include "sim/scenario/suite/error_record.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/run_record_file.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "sim/text/file.hpp"
#include "sim/validation/recorded_runs.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// The record is read before it is written, which a pipe does not end.
void check_record(const std::string& path) {
  std::error_code ignored;
  if (!path.empty() && std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored))
    throw UserError(fmt::format("--record '{}' is no file, and a record is read first", path));
}

/// The record and the runs beside it, which are read first.
std::vector<Output> records_output(const std::string& record) {
  if (record.empty()) return {};
  return {
      {.role = "--record", .path = record, .is_update = true},
      {.role = "the runs that --record writes", .path = runs_beside(record), .is_update = true}};
}

/// Once all is read that is not to be changed, and before the predictions, which take minutes.
void check_outputs_of(const ValidateOptions& options) {
  std::vector<Output> outputs = records_output(options.record);
  // What has been read before the record is, was read as something else.
  for (Output& one : outputs) one.is_update = !was_read(one.path);
  outputs.push_back(html_output(options.html, options.force, {"validate"}));
  check_outputs(outputs);
}

void check_options(const ValidateOptions& options) {
  if (!options.table.empty() && options.suites.size() > 1)
    throw UserError("--table has the rows of one suite, not of several");
  const bool partial = !options.table.empty() || !options.filter.empty();
  for (const auto& [name, file] :
       {std::pair{"--baseline", options.baseline}, {"--record", options.record}}) {
    if (!file.empty() && partial)
      throw UserError(
          fmt::format("{} is of all rows of a suite: leave out --table and --filter", name));
  }
  check_record(options.record);
}

/// Each once: a mistake of the filter is one in every suite.
void add_new(std::vector<Diagnostic>& mistakes, const std::vector<Diagnostic>& more) {
  for (const Diagnostic& one : more) {
    const auto is_same = [&](const Diagnostic& other) {
      return to_string(other) == to_string(one);
    };
    if (std::ranges::none_of(mistakes, is_same)) mistakes.push_back(one);
  }
}

/// All suites, or every mistake of all of them.
std::vector<LoadedSuite> load_all(const ValidateOptions& options) {
  std::vector<LoadedSuite> suites;
  std::vector<Diagnostic> mistakes;
  for (const std::string& path : options.suites) {
    try {
      suites.push_back(load_suite({path, options.table, options.filter}, known_names()));
      for (std::size_t i = 0; i + 1 < suites.size(); ++i)
        if (suites[i].suite.name == suites.back().suite.name)
          throw UserError(
              fmt::format("{}: there is another suite '{}'", path, suites[i].suite.name));
    } catch (const UserError& error) {
      add_new(mistakes, error.diagnostics());
    }
  }
  if (!mistakes.empty()) throw UserError(mistakes);
  check_filter(options.filter, suites);
  return suites;
}

double memory_share(const Memory& memory) {
  return memory.stages.empty() ? 0 : memory.worst().needed() / memory.capacity;
}

/// What crosses the pipe: a line with step time, share of memory and breakdown, one a
/// trait, and what the job is.
std::string predicted(const Suite& suite, const MeasuredRun& run, Settings settings,
                      PlanCache& cache) {
  try {
    const Scenario scenario = scenario_of(suite, run, known_names(), settings);
    const OpGraph graph = build(scenario);
    const Plan plan = make_plan(scenario, graph, {.folds = true, .cache = &cache});
    const Metrics metrics = measure(scenario, graph, simulate(plan));
    std::vector<double> numbers{metrics.step_time.seconds(), memory_share(metrics.memory)};
    numbers.insert(numbers.end(), metrics.breakdown.begin(), metrics.breakdown.end());
    const RunTraits traits = traits_of(scenario);
    const std::vector<std::string> lines{text_of(numbers),
                                         std::to_string(traits.gpus),
                                         traits.gpu,
                                         traits.generation,
                                         traits.model,
                                         traits.layers,
                                         traits.precision,
                                         traits.fabric,
                                         traits.style,
                                         job_fingerprint(scenario),
                                         sizeless_fingerprint(scenario),
                                         sizeless_job_fingerprint(scenario)};
    return fmt::format("{}", fmt::join(lines, "\n"));
  } catch (const UserError& error) {
    throw UserError(sentence_of(error));
  }
}

Prediction prediction_of(const std::string& line) {
  const std::vector<double> numbers = numbers_of(line);
  if (numbers.size() != 2 + kCauses) throw InternalError("a prediction of another size");
  Prediction prediction{.step = Seconds{numbers[0]}, .memory_share = numbers[1]};
  std::copy(numbers.begin() + 2, numbers.end(), prediction.breakdown.begin());
  return prediction;
}

/// Fills the row with what `predicted` made.
void read_answer(const std::string& answer, ValidationRow& row) {
  std::istringstream lines(answer);
  std::string numbers;
  std::getline(lines, numbers);
  row.predicted = prediction_of(numbers);
  RunTraits& t = row.traits;
  std::string gpus;
  for (std::string* trait : {&gpus, &t.gpu, &t.generation, &t.model, &t.layers, &t.precision,
                             &t.fabric, &t.style, &row.job, &row.sizeless, &row.sizeless_job})
    if (!std::getline(lines, *trait)) throw InternalError("a prediction without its traits");
  t.gpus = std::stoi(gpus);
}

ValidationRow row_of(const LoadedSuite& loaded, const MeasuredRun& run) {
  return {.suite = loaded.suite.name,
          .label = run.label,
          .file = run.place.source->name,
          .line = run.place.line,
          .measured = run.measured,
          .reason = run.refusal,
          .known = run.known,
          .groups = run.groups,
          .publisher = loaded.suite.publisher};
}

struct Job {
  const LoadedSuite* suite;
  const MeasuredRun* run;
  Settings settings = Settings::all;
};

/// A job for each run, and another for each that is predicted otherwise without what its publisher
/// measured.
std::vector<Job> jobs_of(const std::vector<LoadedSuite>& suites) {
  std::vector<Job> jobs;
  for (const LoadedSuite& loaded : suites) {
    for (const MeasuredRun& run : loaded.runs) {
      jobs.push_back({&loaded, &run});
      if (!run.unseen.empty()) jobs.push_back({&loaded, &run, Settings::unseen});
    }
  }
  return jobs;
}

/// What became of every run that has a scenario, in order.
std::vector<Forked> run_all(const std::vector<Job>& jobs, const ValidateOptions& options,
                            std::ostream& notes) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int count = static_cast<int>(jobs.size());
  PlanCache cache;
  const auto work = [&](int i) {
    const Job& job = jobs[static_cast<std::size_t>(i)];
    return job.run->refusal.empty() ? predicted(job.suite->suite, *job.run, job.settings, cache)
                                    : std::string();
  };
  const ProgressLine line(notes, options.screen.progress);
  const auto show = [&](int ended) { line.show(fmt::format("{} of {} rows", ended, count)); };
  const int at_a_time = options.jobs > 0 ? options.jobs : cores;
  return try_forked(count, at_a_time, work, show, Copies::kept);
}

SuiteResult result_of(const LoadedSuite& loaded) {
  return {.name = loaded.suite.name,
          .title = loaded.suite.title,
          .source = loaded.suite.source,
          .assumptions = loaded.suite.assumptions};
}

/// Fills in what a job found about the row that was begun last, or begins a row.
void add_outcome(const Job& job, const Forked& outcome, std::vector<ValidationRow>& rows) {
  if (job.settings == Settings::unseen) {
    const bool is_of_last = !rows.empty() && rows.back().line == job.run->place.line;
    if (!is_of_last || !rows.back().predicted) return;
    if (outcome.error.empty()) {
      rows.back().unseen = prediction_of(outcome.result.substr(0, outcome.result.find('\n'))).step;
    } else {
      rows.back().predicted.reset();
      rows.back().reason = "unseen: " + on_one_line(outcome.error);
    }
    return;
  }
  ValidationRow row = row_of(*job.suite, *job.run);
  if (row.reason.empty()) {
    row.reason = on_one_line(outcome.error);
    if (row.reason.empty()) read_answer(outcome.result, row);
  }
  rows.push_back(std::move(row));
}

/// Predicts every run. Rows that Ctrl-C prevented are left out; `is_whole` says whether any was.
std::vector<SuiteResult> predict(const std::vector<LoadedSuite>& suites,
                                 const ValidateOptions& options, std::ostream& notes,
                                 bool& is_whole) {
  const std::vector<Job> jobs = jobs_of(suites);
  const std::vector<Forked> outcomes = run_all(jobs, options, notes);
  std::vector<SuiteResult> results;
  for (const LoadedSuite& loaded : suites) results.push_back(result_of(loaded));
  std::size_t done = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!outcomes[i].is_done) continue;
    ++done;
    add_outcome(jobs[i], outcomes[i],
                results[static_cast<std::size_t>(jobs[i].suite - suites.data())].rows);
  }
  is_whole = done == jobs.size();
  if (!is_whole) notes << fmt::format("interrupted: {} of {} rows are done\n", done, jobs.size());
  return results;
}

Validation validation_of(const std::vector<LoadedSuite>& suites, std::vector<SuiteResult> results,
                         bool is_whole) {
  Validation validation{.suites = std::move(results)};
  for (std::size_t i = 0; i < suites.size(); ++i) {
    SuiteResult& result = validation.suites[i];
    const Tolerance& tolerance = suites[i].suite.tolerance;
    result.score = score_of(result.rows);
    if (is_whole) result.limits = limits_of(result.score, tolerance);
    const auto breaches = breaches_of(result.rows, result.score, tolerance, is_whole);
    validation.breaches.insert(validation.breaches.end(), breaches.begin(), breaches.end());
    validation.rows.insert(validation.rows.end(), result.rows.begin(), result.rows.end());
  }
  validation.total = score_of(validation.rows);
  return validation;
}

std::vector<RecordedErrors> recorded(const Validation& validation) {
  std::vector<RecordedErrors> now;
  for (const SuiteResult& suite : validation.suites) {
    const auto groups = recorded(suite.name, suite.score);
    now.insert(now.end(), groups.begin(), groups.end());
  }
  return now;
}

std::vector<RecordedChoices> recorded_choices(const Validation& validation) {
  std::vector<RecordedChoices> now;
  for (const SuiteResult& suite : validation.suites) {
    const auto choices = recorded_choices(suite.name, suite.score);
    now.insert(now.end(), choices.begin(), choices.end());
  }
  return now;
}

std::vector<RecordedGrowth> recorded_growth(const Validation& validation) {
  std::vector<RecordedGrowth> now;
  for (const SuiteResult& suite : validation.suites) {
    const auto& g = suite.score.growth;
    if (g)
      now.push_back(
          {suite.name, g->rows, g->jobs, g->sizes, g->slope, g->uncertainty, g->is_as_split});
  }
  return now;
}

std::vector<std::string> names_of(const Validation& validation) {
  std::vector<std::string> names;
  for (const SuiteResult& suite : validation.suites) names.push_back(suite.name);
  return names;
}

std::string folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// What stands in the files that --record writes.
struct Records {
  ErrorRecord groups;
  std::vector<RecordedRuns> runs;
};

Records records_of(const std::string& file) {
  std::error_code ignored;
  const std::string runs = runs_beside(file);
  Records records;
  if (fs::exists(file, ignored)) records.groups = load_error_record(file);
  if (fs::exists(runs, ignored)) records.runs = load_recorded_runs(runs);
  return records;
}

/// As long as it lives no other stepsim writes a record into the file's folder.
class FolderLock {
 public:
  explicit FolderLock(const std::string& file) {
    folder_ = open(folder_of(file).c_str(), O_RDONLY | O_CLOEXEC);
    if (folder_ >= 0) flock(folder_, LOCK_EX);
  }
  ~FolderLock() {
    if (folder_ >= 0) close(folder_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int folder_ = -1;
};

/// The record, and the runs beside it; what has changed goes to `notes`.
void write_record(const std::string& file, const Validation& validation, std::ostream& notes) {
  const FolderLock alone(file);
  const Records before = records_of(file);
  const std::string runs_file = runs_beside(file);
  const auto groups = recorded(validation);
  const auto choices = recorded_choices(validation);
  const auto runs = recorded_runs(validation.rows);
  const std::string changes =
      difference(before.groups.groups, groups) + difference(before.groups.choices, choices);
  for (const auto& [name, changed] :
       {std::pair{file, changes}, {runs_file, difference(before.runs, runs)}})
    notes << (changed.empty() ? name + ": nothing has changed\n" : name + ":\n" + changed);
  const ErrorRecord record{
      updated(before.groups.groups, groups),
      updated(before.groups.choices, choices, names_of(validation)),
      updated(before.groups.growth, recorded_growth(validation), names_of(validation))};
  const std::vector<Output> outputs = records_output(file);
  save_files({{outputs[0], to_yaml(record)}, {outputs[1], to_csv(updated(before.runs, runs))}});
}

/// At the filter, or at the tables without rows.
[[noreturn]] void refuse_emptiness(const ValidateOptions& options,
                                   const std::vector<LoadedSuite>& suites) {
  const std::string message = "no row is left to validate";
  Problems problems;
  if (!options.filter.empty()) {
    const auto filter = std::make_shared<Source>(Source{"--filter", "", options.filter, true});
    problems.add({filter, 0, 1}, "", message, "no row meets it");
  } else {
    for (const LoadedSuite& loaded : suites) problems.add(loaded.table, "", message);
  }
  problems.throw_if_any();
  throw UserError(message);
}

std::string formatted(const ValidateOptions& options, const Validation& validation) {
  if (options.format == "json") return validation_json(validation);
  if (options.format == "csv") return validation_csv(validation);
  if (options.format == "junit") return validation_junit(validation);
  if (options.format == "github") return validation_github(validation);
  if (options.format == "markdown") return validation_markdown(validation);
  return validation_text(validation, {.screen = {.colour = options.screen.colour, .width = 100},
                                      .rows = options.rows || validation.suites.size() == 1,
                                      .causes = options.causes});
}

}  // namespace

ExitCode validate(const ValidateOptions& options, std::ostream& out, std::ostream& notes) {
  check_options(options);
  const std::vector<LoadedSuite> suites = load_all(options);
  notes << filter_notes(suites);
  const ErrorRecord baseline =
      options.baseline.empty() ? ErrorRecord{} : load_error_record(options.baseline);
  check_outputs_of(options);
  if (!options.record.empty()) records_of(options.record);  // a broken one is said first, too
  bool all_done = true;
  std::vector<SuiteResult> results = predict(suites, options, notes, all_done);
  Validation validation =
      validation_of(suites, std::move(results), all_done && options.filter.empty());
  validation.interrupted = !all_done;
  if (validation.rows.empty() && !all_done) return ExitCode::incomplete;
  if (validation.rows.empty()) refuse_emptiness(options, suites);
  if (!options.baseline.empty()) {
    for (const auto& worse : {worse_than(baseline.groups, recorded(validation)),
                              worse_than(baseline.choices, recorded_choices(validation))})
      validation.breaches.insert(validation.breaches.end(), worse.begin(), worse.end());
  }
  if (!options.html.empty()) {
    save_page(html_output(options.html, options.force, {"validate"}),
              {.kind = "validate",
               .title = "predicted against measured",
               .documents = {{"result", validation_json(validation)}}},
              notes);
  }
  out << formatted(options, validation);
  if (!all_done) {
    if (!options.record.empty()) notes << options.record << ": not written\n";
    return ExitCode::incomplete;
  }
  if (!options.record.empty()) write_record(options.record, validation, notes);
  return validation.breaches.empty() ? ExitCode::ok : ExitCode::expectation_failed;
}

}  // namespace stepsim
