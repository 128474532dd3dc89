// stepsim compare: scenarios and results -> results -> what differs.
#include "sim/command/compare.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/answer/answer.hpp"
#include "sim/command/answer/read_result.hpp"
#include "sim/command/page/answer_page.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/command/recording/compare_recording.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/patience.hpp"
#include "sim/report/comparison/comparison_report.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/keys.hpp"
#include "sim/scenario/read/number.hpp"
#include "sim/scenario/suite/run_record_file.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// A scenario or result that is compared, before its result is known.
struct Candidate {
  Contender contender;
  Scenario scenario;  ///< where contender.is_result is false
};

std::vector<Override> overrides_of(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) overrides.push_back(parse_override(text));
  return overrides;
}

/// The keys that bear on the answer.
std::vector<ComparedKey> compared_keys(const std::vector<KeyValue>& all) {
  std::vector<ComparedKey> keys;
  for (const KeyValue& key : all) {
    if (key.key != "name" && key.key != "description" && !key.key.starts_with("expect."))
      keys.push_back({key.key, key.value});
  }
  return keys;
}

/// `changes` are those of --vs, which come after those of --set.
Candidate scenario_candidate(const Source& source, const CompareOptions& options,
                             const std::vector<std::string>& changes) {
  std::vector<Override> overrides = overrides_of(options.overrides);
  for (const Override& change : overrides_of(changes)) overrides.push_back(change);
  Candidate candidate;
  candidate.contender.file = source.name;
  candidate.contender.settings = options.overrides;
  candidate.contender.changes = changes;
  candidate.scenario =
      parse_scenario(source.text, source.name, library_for(source.name), overrides, known_names());
  candidate.contender.keys = compared_keys(keys_of(candidate.scenario));
  return candidate;
}

/// "--vs a=1 b=2".
std::string option_text(const std::vector<std::string>& changes) {
  return fmt::format("--vs {}", fmt::join(changes, " "));
}

/// The scenario with changes. Without them it has no mistakes, so that mistakes in the file come of
/// the changes, too.
Candidate variant_of(const Source& source, const CompareOptions& options,
                     const std::vector<std::string>& changes) {
  try {
    return scenario_candidate(source, options, changes);
  } catch (const UserError& error) {
    std::vector<Diagnostic> mistakes = error.diagnostics();
    for (Diagnostic& mistake : mistakes) {
      const auto change = std::ranges::find_if(
          changes, [&](const auto& text) { return mistake.file == "--set " + text; });
      if (change != changes.end()) {
        mistake.file = "--vs " + *change;
      } else {
        mistake.message = fmt::format("with {}: {}", option_text(changes), mistake.message);
      }
    }
    throw UserError(std::move(mistakes));
  }
}

Candidate result_candidate(const std::shared_ptr<const Source>& source) {
  Candidate candidate;
  candidate.contender.file = source->name;
  candidate.contender.is_result = true;
  candidate.contender.result = read_result(source);
  const std::string& yaml = candidate.contender.result.yaml;
  if (!yaml.empty())
    candidate.contender.keys =
        compared_keys(keys_of_yaml({"the scenario in " + source->name, "", yaml}));
  return candidate;
}

/// What is wrong with any of the files, so that all of it can be said.
class Mistakes {
 public:
  /// Nothing of a mistake stops the others from being found.
  template <class Work>
  void in(const Work& work) {
    try {
      work();
    } catch (const UserError& error) {
      found_.insert(found_.end(), error.diagnostics().begin(), error.diagnostics().end());
    } catch (const IoError& error) {
      unreadable_.emplace_back(error.what());
    }
  }

  void throw_if_any() const {
    std::vector<Diagnostic> all = found_;
    std::string lines;
    for (const std::string& message : unreadable_) {
      all.push_back(Diagnostic{.message = message});
      lines += (lines.empty() ? "" : "\n") + message;
    }
    if (!found_.empty()) throw UserError(all);
    if (!lines.empty()) throw IoError(lines);
  }

 private:
  std::vector<Diagnostic> found_;
  std::vector<std::string> unreadable_;
};

/// What a number without a unit may have meant: 0.02 is rather a share than a 50th of a per cent.
std::string with_per_cent(const LeadingNumber& read) {
  const std::string as_it_is = fmt::format("\"{} %\"", read.number);
  if (read.value <= 0 || read.value >= 1) return as_it_is;
  return fmt::format("\"{:.6g} %\", or {} if so little is meant", 100 * read.value, as_it_is);
}

/// "2%", "0.5 %": 0.005.
double parse_tolerance(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("--tolerance {} {}", quoted(text), why));
  };
  const auto read = number_if_any(text);
  if (!read) refuse("is no share: write it as in \"2 %\"");
  if (read->rest.empty()) refuse("has no unit: write " + with_per_cent(*read));
  if (read->rest != "%") refuse(fmt::format("is not in per cent: write \"{} %\"", read->number));
  if (read->value < 0) refuse("is below 0: write how much worse the result may be");
  return read->value / 100;
}

/// By how much a result may be worse than its baseline: as stated, or by less than a person would
/// look into.
double tolerance_of(const CompareOptions& options) {
  return parse_tolerance(options.tolerance.empty() ? "2 %" : options.tolerance);
}

void check_baseline(const CompareOptions& options) {
  if (options.baseline.empty()) {
    if (!options.tolerance.empty()) throw UserError("--tolerance is for --baseline");
    return;
  }
  if (options.files.size() > 1)
    throw UserError("--baseline is for one file, which is compared with it");
  if (!options.variants.empty())
    throw UserError("--baseline has no --vs: state changes with --set");
  tolerance_of(options);
}

/// The reference first.
std::vector<std::string> files_of(const CompareOptions& options) {
  std::vector<std::string> files = options.files;
  if (!options.baseline.empty()) files.insert(files.begin(), options.baseline);
  return files;
}

void check_options(const CompareOptions& options) {
  check_baseline(options);
  const std::vector<std::string> files = files_of(options);
  const std::size_t count = files.size() + options.variants.size();
  if (count > kMostCompared)
    throw UserError(fmt::format("{} at once: compare takes {}", count, kMostCompared));
  if (count < 2)
    throw UserError(
        "one alone is nothing to compare: name another file, or --vs path=value for the same "
        "scenario with a change");
  std::error_code ignored;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (files[i] == files[k] || fs::equivalent(files[i], files[k], ignored))
        throw UserError(
            fmt::format("{} is there twice, and they are the same: --vs path=value compares a "
                        "scenario with itself and a change",
                        files[i]));
}

std::vector<Candidate> load_all(const CompareOptions& options) {
  std::vector<Candidate> candidates;
  std::shared_ptr<const Source> first;
  Mistakes mistakes;
  for (const std::string& file : files_of(options)) {
    mistakes.in([&] {
      const auto source = read_source(file, kLargestMeasurements);
      if (candidates.empty()) first = source;
      const bool is_baseline = file == options.baseline;
      candidates.push_back(is_baseline || is_meant_as_result(*source)
                               ? result_candidate(source)
                               : scenario_candidate(*source, options, {}));
    });
  }
  mistakes.throw_if_any();
  const auto is_result = [](const Candidate& c) { return c.contender.is_result; };
  if (!options.variants.empty() && candidates.front().contender.is_result)
    throw UserError(fmt::format("--vs changes the first file, and {} is a result, not a scenario",
                                options.files.front()));
  if (!options.overrides.empty() && std::ranges::all_of(candidates, is_result))
    throw UserError("--set changes scenarios, and there are only results");
  for (const auto& changes : options.variants)
    mistakes.in([&] { candidates.push_back(variant_of(*first, options, changes)); });
  mistakes.throw_if_any();
  return candidates;
}

const std::string* value_of(const Contender& of, const std::string& key) {
  for (const ComparedKey& known : of.keys)
    if (known.key == key) return &known.value;
  return nullptr;
}

/// Refuses a baseline of another model or cluster: a wrong file. REQUIRES: the baseline first.
void check_baseline_of(const Candidate& baseline, const Candidate& now) {
  std::vector<std::string> apart;
  for (const char* part : {"model", "cluster"}) {
    const std::string* of_baseline = value_of(baseline.contender, fmt::format("{}.name", part));
    const std::string* is = value_of(now.contender, fmt::format("{}.name", part));
    if (of_baseline && is && *of_baseline != *is)
      apart.push_back(fmt::format("{} {}, not {}", part, quoted(*of_baseline), quoted(*is)));
  }
  if (apart.empty()) return;
  throw UserError(fmt::format(
      "{} is no baseline of {}: it is of {}. If that has changed on purpose, print a new one with "
      "run --format json; compare without --baseline says what differs",
      baseline.contender.file, now.contender.file, fmt::join(apart, ", of ")));
}

/// What `run --format json` prints of it. Errors say whose they are.
std::string answer_text(const Candidate& candidate, int jobs) {
  const Contender& contender = candidate.contender;
  const auto said_of = [&](const std::exception& error) {
    const std::string changes =
        contender.changes.empty() ? "" : " with " + option_text(contender.changes);
    return fmt::format("{}{}: {}", contender.file, changes, error.what());
  };
  try {
    std::ostringstream notes;  // the notes of copies stand in the result
    const Answer answer =
        answer_of(candidate.scenario, library_for(contender.file), {.jobs = jobs}, notes);
    return to_json(answer.metrics, answer.outcomes, nullptr);
  } catch (const UserError& error) {
    throw UserError(said_of(error));
  } catch (const SimulationError& error) {
    throw SimulationError(said_of(error));
  }
}

/// The result as `run` prints it, of each that is a scenario.
void simulate_all(std::vector<Candidate>& candidates, int jobs) {
  std::vector<Candidate*> scenarios;
  bool replicas = false;
  for (Candidate& candidate : candidates) {
    if (candidate.contender.is_result) continue;
    scenarios.push_back(&candidate);
    replicas = replicas || candidate.scenario.run.replicas > 1;
  }
  const int cores = jobs > 0 ? jobs : static_cast<int>(std::thread::hardware_concurrency());
  // Replicas are at work beside each other already.
  const auto answers =
      run_forked(static_cast<int>(scenarios.size()), replicas ? 1 : cores,
                 [&](int i) { return answer_text(*scenarios[static_cast<std::size_t>(i)], jobs); });
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (!answers[i]) throw SimulationError("interrupted before all were simulated");
    const Contender& contender = scenarios[i]->contender;
    scenarios[i]->contender.result = read_result(
        std::make_shared<Source>(Source{"the result of " + contender.file, "", *answers[i]}));
  }
}

void say_notes(const std::vector<Candidate>& candidates, std::ostream& notes) {
  std::set<std::string> said;
  for (const Candidate& candidate : candidates) {
    for (const std::string& note : candidate.scenario.model.notes) {
      const std::string text =
          fmt::format("note: model {}: {}\n", candidate.scenario.model.name, note);
      if (said.insert(text).second) notes << text;
    }
  }
}

std::string formatted(const CompareOptions& options, const Comparison& comparison) {
  if (options.format == "json") return comparison_json(comparison);
  if (options.format == "csv") return comparison_csv(comparison);
  if (options.format == "markdown") return comparison_markdown(comparison);
  return comparison_text(comparison, options.screen);
}

/// The replica in the middle, as its result has it.
int replica_of(const ResultFacts& result) {
  const auto middle = std::ranges::find(result.replicas, result.step_time);
  return middle == result.replicas.end()
             ? 0
             : static_cast<int>(std::distance(result.replicas.begin(), middle));
}

/// `scenarios` are those of the runs. A run that is a result has no timeline, and of many nobody
/// looks at timelines.
HtmlPage page_of(const Comparison& comparison, const std::vector<Candidate>& scenarios) {
  constexpr std::size_t kMostTimelines = 4;
  HtmlPage page{.kind = "compare",
                .title = comparison.runs.back().result.scenario + ": a comparison",
                .documents = {{"result", comparison_json(comparison)}, causes_document()}};
  if (scenarios.size() > kMostTimelines) return page;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (comparison.runs[i].is_result) continue;
    page.documents.push_back(
        {fmt::format("timeline_{}", i),
         step_timeline_json(scenarios[i].scenario,
                            {.replica = replica_of(comparison.runs[i].result),
                             .beside = static_cast<int>(scenarios.size()) - 1})});
  }
  return page;
}

/// How the baseline becomes what was compared with it.
std::string renewal(const CompareOptions& options, const Contender& now) {
  if (now.is_result)
    return fmt::format("cp {} {}", shell_word(now.file), shell_word(options.baseline));
  std::string command = "stepsim run " + shell_word(now.file);
  for (const std::string& change : options.overrides) command += " --set " + shell_word(change);
  return fmt::format("{} --format json > {}", command, shell_word(options.baseline));
}

/// 1: it is worse than the baseline allows. What is perhaps another scenario's is not offered to be
/// overwritten.
ExitCode judged(const CompareOptions& options, Comparison& comparison, std::ostream& notes) {
  if (options.baseline.empty()) return ExitCode::ok;
  comparison.baseline = judge_baseline(comparison, tolerance_of(options));
  const std::string &before = comparison.runs.front().result.scenario,
                    &now = comparison.runs.back().result.scenario;
  if (before != now) {
    notes << fmt::format("warning: the baseline {} is of a scenario named {}, this is {}\n",
                         options.baseline, quoted(before), quoted(now));
  } else if (comparison.baseline->has_improved()) {
    notes << fmt::format(
        "{} is better than the baseline by more than the tolerance; renew that: {}\n",
        options.files.front(), renewal(options, comparison.runs.back()));
  }
  return comparison.baseline->is_met() ? ExitCode::ok : ExitCode::expectation_failed;
}

}  // namespace

ExitCode compare(const CompareOptions& options, std::ostream& out, std::ostream& notes) {
  if (has_recording(options)) return compare_recording(options, out, notes);
  check_options(options);
  std::vector<Candidate> candidates = load_all(options);
  const Output page = html_output(options.html, options.force, kComparePages);
  check_outputs({page});
  if (!options.baseline.empty()) check_baseline_of(candidates[0], candidates[1]);
  say_notes(candidates, notes);
  {
    const Patience patience(options.screen.progress);
    patience.begins("simulating");
    simulate_all(candidates, options.jobs);
  }
  std::vector<Contender> runs;
  for (Candidate& candidate : candidates) runs.push_back(std::move(candidate.contender));
  const auto measured = measured_runs(library_for(options.files.front()), notes);
  Comparison comparison = compare(std::move(runs), measured.value_or(std::vector<RecordedRuns>{}));
  const ExitCode code = judged(options, comparison, notes);
  if (!page.path.empty()) save_page(page, page_of(comparison, candidates), notes);
  out << formatted(options, comparison);
  return code;
}

}  // namespace stepsim
