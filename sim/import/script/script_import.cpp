// Evaluates a script as often as it takes to know what its variables matter.
#include "sim/import/script/script_import.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/import/machine.hpp"
#include "sim/import/script/asked_variables.hpp"
#include "sim/import/script/trial_time.hpp"
#include "sim/process/forked.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/text/scratch_folder.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// Values that a script hardly has itself: a draft that changes with them depends on them.
constexpr const char *kSome = "3", *kAnother = "7";
/// The time of one evaluation of the script.
constexpr Seconds kLimit{6};
/// Variables that `set -u` may ask for, one after another.
constexpr int kMostUnbound = 40;
/// Files that are not here, of which a mistake tells.
constexpr std::size_t kMostNamed = 5;

/// The script's arguments stand before options of Megatron-LM, or behind "--".
Variables stated_variables(const ImportOptions& options) {
  Variables stated;
  const Words arguments = split_arguments(options.arguments).first;
  for (std::size_t i = 0; i < arguments.size(); ++i) stated[std::to_string(i + 1)] = arguments[i];
  for (const std::string& text : options.environment) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError(fmt::format("--env {}: this is no NAME=VALUE", text));
    stated[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return stated;
}

/// The name in bash's "train.sh: line 5: NUM_NODES: unbound variable"; "" where it says no such
/// thing.
std::string unbound_variable(const std::string& errors) {
  static const std::regex said(R"(: line \d+: \$?(\w+): unbound variable)");
  std::smatch found;
  const std::string end = errors.size() > 4096 ? errors.substr(errors.size() - 4096) : errors;
  return std::regex_search(end, found, said) ? found[1].str() : "";
}

/// A file of YAML without the lines that say where it comes from.
std::string without_comments(const std::string& yaml) {
  std::istringstream lines(yaml);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) kept += line + '\n';
  }
  return kept;
}

/// All that a draft is made of.
std::string text_of(const MegatronLaunch& launch) {
  std::string text =
      fmt::format("{} {} {} {} {}", launch.program.text, launch.gpus.nodes,
                  launch.gpus.gpus_per_node, launch.gpus.gpus, launch.gpus.is_one_node);
  for (const PlacedWord& word : launch.words) text += '\0' + word.text;
  return text;
}

/// Does no harm where it does not matter: ranks are those of the first process.
std::string harmless_value(const std::string& name) {
  const bool is_rank = name.find("RANK") != std::string::npos ||
                       name.find("PROCID") != std::string::npos ||
                       name.find("NODEID") != std::string::npos;
  return is_rank ? "0" : "1";
}

/// bash takes the CR of such a line's end for a part of its last word, or of a line that a backslash
/// should go on in: nothing that it would do is what was meant.
void refuse_windows_ends(const std::shared_ptr<const Source>& script) {
  const std::size_t at = script->text.find("\r\n");
  if (at == std::string::npos) return;
  Problems problems;
  problems.add(place_at(script, at), "",
               "the script has line ends of Windows (CR LF), with which bash fails",
               fmt::format("mend them: dos2unix {}", shell_word(script->name)));
  problems.throw_if_any();
}

class ScriptImport {
 public:
  ScriptImport(std::shared_ptr<const Source> script, const ImportOptions& options,
               const std::function<Draft(const MegatronLaunch&)>& make)
      : script_(std::move(script)), make_(make), known_(requested_gpus(*script_)) {
    machine_.gpus_per_node = usual_gpus_per_node(options);
    if (options.nodes > 0) known_.nodes = options.nodes;
    if (known_.nodes > 0) machine_.nodes = known_.nodes;
    if (known_.gpus_per_node > 0) machine_.gpus_per_node = known_.gpus_per_node;
    variables_ = slurm_variables(*script_, known_);
    for (const auto& [name, value] : stated_variables(options)) variables_[name] = value;
  }

  Draft draft() {
    refuse_windows_ends(script_);
    Outcome base = outcome({});
    if (!text_) std::rethrow_exception(base.error);
    const std::vector<AskedVariable> asked = asked_variables(*text_, variables_);
    answers_itself_ = base.draft.has_value();
    const std::set<std::string> mattering =
        base.draft ? those_that_change(asked, {}, base) : those_that_it_needs(asked, base);
    ask(asked, mattering);
    if (!base.draft) refuse(base.error);
    Draft draft = *base.draft;
    list_assumed(asked, mattering, draft);
    if (known_.gpus_per_node == 0 &&
        (stands_for_value("nvidia-smi") || stands_for_value("device_count")))
      draft.assume({"GPUs of a node", fmt::format("{}", machine_.gpus_per_node),
                    "the script counts those of the machine that it runs on", "--cluster NAME"});
    for (const std::string& file : missing_) note_missing(file, "reads an empty file", draft);
    for (const std::string& file : absent_) note_missing(file, "finds nothing in it", draft);
    return draft;
  }

 private:
  /// Whether the program is in a command that stands in place of a value.
  bool stands_for_value(const std::string& word) const {
    const Place place = text_->of_word(word);
    if (place.line == 0) return false;
    const std::string line = place.source->line(place.line);
    return line.find("$(") != std::string::npos || line.find('`') != std::string::npos;
  }

  /// The mistake, and what is not here, which may be its cause.
  [[noreturn]] void refuse(const std::exception_ptr& error) const {
    try {
      std::rethrow_exception(error);
    } catch (const UserError& mistake) {
      std::vector<Diagnostic> all = mistake.diagnostics();
      Names files = missing_;
      files.insert(files.end(), absent_.begin(), absent_.end());
      const auto add = [&](Names names, const char* what, const char* way) {
        std::erase_if(names, [&](const std::string& name) {
          return name.empty() || all.front().message.find(name) != std::string::npos;
        });
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        names.resize(std::min(names.size(), kMostNamed));
        if (names.empty()) return;
        all.emplace_back();
        all.back().message = fmt::format("{}: {}", what, fmt::join(names, ", "));
        all.back().proposal = way;
      };
      add(files, "not here, and read as empty",
          "put them there, or state what they decide: --env NAME=VALUE, or options behind FILE");
      add(silent_, "not run here, and without an answer",
          "state what they print: options behind FILE");
      throw UserError(all);
    }
  }

  struct Outcome {
    std::optional<Draft> draft;
    std::exception_ptr error;
    std::string launch;     ///< all words of it, and its GPUs; "" where nothing is started
    std::string text;       ///< of the draft, or of the error
    bool has_ended = true;  ///< false: there was no time for the script's end
  };

  /// What becomes of the script with these variables, beside those that are stated.
  Outcome outcome(const Variables& tried, RunIn where = RunIn::copy,
                  const Outcome* base = nullptr) {
    Outcome found;
    try {
      const ScriptRun run = run_with(tried, where);
      if (!text_) keep_what_it_reads(run);
      const MegatronLaunch launch = megatron_launch(run, *text_, known_);
      found.launch = text_of(launch);
      // What the same words make is the same.
      if (base != nullptr && found.launch == base->launch) return *base;
      found.draft = make_(launch);
      found.text = without_comments(found.draft->text());
    } catch (const ScriptNotEnded&) {
      found.error = std::current_exception();
      found.has_ended = false;
    } catch (const UserError& error) {
      found.error = std::current_exception();
      found.text = error.what();
    }
    return found;
  }

  void keep_what_it_reads(const ScriptRun& run) {
    text_.emplace(sources_of(run));
    missing_ = run.missing;
    for (const std::string& file : run.absent) {
      // A program's own libraries are looked for in folders that the script names.
      if (file.find(".so.") != std::string::npos) continue;
      if (std::find(absent_.begin(), absent_.end(), file) == absent_.end()) absent_.push_back(file);
    }
    for (const std::string& program : unknown_programs(run)) {
      if (stands_for_value(program)) silent_.push_back(program);
    }
  }

  /// Where `set -u` ends the script for a variable, that has a value, too.
  ScriptRun run_with(const Variables& tried, RunIn where) {
    for (int i = 0;; ++i) {
      Variables all = variables_;
      all.insert(tried.begin(), tried.end());
      all.insert(filled_.begin(), filled_.end());
      ScriptRun run = run_script(*script_, all, machine_, scratch_.path(), kLimit, where);
      const std::string name = unbound_variable(run.errors);
      if (name.empty() || i > kMostUnbound || trial_time_.is_over()) return run;
      if (!filled_.emplace(name, harmless_value(name)).second) return run;
    }
  }

  std::vector<std::shared_ptr<const Source>> sources_of(const ScriptRun& run) const {
    std::vector<std::shared_ptr<const Source>> sources{script_};
    std::set<std::string> seen{fs::absolute(script_->name).lexically_normal()};
    std::error_code none;
    for (const std::string& file : run.read) {
      if (!seen.insert(file).second || !fs::is_regular_file(file, none)) continue;
      sources.push_back(read_source(fs::path(file).lexically_proximate(fs::current_path())));
      if (file.ends_with(".sh")) refuse_windows_ends(sources.back());
    }
    return sources;
  }

  static Variables all_with(const std::vector<AskedVariable>& asked, const char* value,
                            bool also_chosen) {
    Variables all;
    for (const AskedVariable& one : asked) {
      if (!one.preset && (also_chosen || !one.chooses)) all[one.name] = value;
    }
    return all;
  }

  using Names = std::vector<std::string>;
  enum class Trial { same, other, not_ended };

  static Variables with(Variables others, const Names& names) {
    for (const std::string& name : names) others[name] = kAnother;
    return others;
  }

  /// What each of these makes of `base`. Processes of their own try them, for a script takes most of
  /// its time to start programs.
  std::vector<Trial> tried(const std::vector<Variables>& all, const Outcome& base) {
    const int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const auto said = run_forked(static_cast<int>(all.size()), jobs, [&](int i) -> std::string {
      if (trial_time_.is_over()) return "not ended";
      const Outcome one = outcome(all[static_cast<std::size_t>(i)], RunIn::here, &base);
      return !one.has_ended ? "not ended" : one.text == base.text ? "same" : "other";
    });
    std::vector<Trial> trials;
    for (const auto& one : said) {
      if (!one) throw Interrupted();
      trials.push_back(*one == "same"    ? Trial::same
                       : *one == "other" ? Trial::other
                                         : Trial::not_ended);
    }
    return trials;
  }

  /// The variables that matter: another value than in `others` has another outcome than `base`. All
  /// are tried at once, then in groups, then one by one, for most often few of many matter.
  std::set<std::string> those_that_change(const std::vector<AskedVariable>& asked,
                                          const Variables& others, const Outcome& base) {
    std::vector<Names> groups(asked.empty() ? 0 : 1);
    for (const AskedVariable& one : asked) groups.front().push_back(one.name);
    const auto few = static_cast<std::size_t>(std::sqrt(static_cast<double>(asked.size())));
    for (const std::size_t size : {asked.size(), std::max<std::size_t>(few, 1), std::size_t{1}})
      groups = those_that_change(parts(groups, size), others, base);
    std::set<std::string> found;
    for (const Names& one : groups) found.insert(one.begin(), one.end());
    return found;
  }

  /// The groups of names that change something; none where all of them were tried before.
  std::vector<Names> those_that_change(const std::vector<Names>& groups, const Variables& others,
                                       const Outcome& base) {
    if (groups == changing_ || groups.empty()) return groups;
    changing_.clear();
    std::vector<Variables> all;
    for (const Names& names : groups) all.push_back(with(others, names));
    const std::vector<Trial> trials = trial_time_.is_over()
                                          ? std::vector<Trial>(groups.size(), Trial::not_ended)
                                          : tried(all, base);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const bool is_last = groups[i].size() == 1 || trial_time_.is_over();
      if (trials[i] == Trial::not_ended && is_last)
        untried_.insert(groups[i].begin(), groups[i].end());
      else if (trials[i] != Trial::same)
        changing_.push_back(groups[i]);
    }
    return changing_;
  }

  static std::vector<Names> parts(const std::vector<Names>& groups, std::size_t size) {
    std::vector<Names> all;
    for (const Names& names : groups) {
      for (std::size_t i = 0; i < names.size(); i += size)
        all.emplace_back(
            names.begin() + static_cast<std::ptrdiff_t>(i),
            names.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, names.size())));
    }
    return all;
  }

  /// The variables that a script needs which starts nothing as it is. Where it starts something with
  /// all that it wants, without what conditions ask for or with that, too, those are they whose value
  /// matters, and the others have one from then on; else they are those without which it ends.
  std::set<std::string> those_that_it_needs(const std::vector<AskedVariable>& asked,
                                            Outcome& base) {
    const Variables wanted = all_with(asked, kSome, true), least = all_with(asked, kSome, false);
    if (wanted.empty()) return {};
    Outcome with_least = least == wanted ? Outcome{} : outcome(least);
    if (with_least.draft) {
      answers_itself_ = true;
      base = std::move(with_least);
      return those_that_change(asked, least, base);
    }
    Outcome with_all = outcome(wanted);
    if (!with_all.has_ended) return {};
    if (with_all.draft) {
      base = std::move(with_all);
      return those_that_change(asked, wanted, base);
    }
    // What is wrong has to do with none of them.
    if (with_all.text == base.text) return {};
    std::set<std::string> found = those_that_change(asked, {}, base);
    std::vector<Variables> without;
    for (const auto& [name, value] : wanted) {
      without.push_back(wanted);
      without.back().erase(name);
    }
    const std::vector<Trial> trials =
        trial_time_.is_over() ? std::vector<Trial>{} : tried(without, with_all);
    auto name = wanted.begin();
    for (const Trial trial : trials) {
      if (trial == Trial::other) found.insert(name->first);
      ++name;
    }
    if (found.empty()) base = std::move(with_all);
    return found;
  }

  static bool is_argument(const AskedVariable& one) {
    return one.name.find_first_not_of("0123456789") == std::string::npos;
  }

  static std::string shown(const AskedVariable& one) {
    return (is_argument(one) ? "its argument " : "") + one.name;
  }

  /// A script without a default for a variable that matters has to be told. A condition on what
  /// nobody sets has an answer, which is enough where the script runs with it.
  void ask(const std::vector<AskedVariable>& asked, const std::set<std::string>& mattering) const {
    Problems problems;
    for (const AskedVariable& one : asked) {
      if (one.preset || !mattering.contains(one.name)) continue;
      if (answers_itself_ && one.chooses) continue;
      problems.add(
          one.place, "", fmt::format("the script asks for {}, which nobody sets", shown(one)),
          fmt::format("state {}: --env {}=VALUE",
                      is_argument(one) ? "all arguments behind the file, or this one" : "it",
                      one.name));
    }
    problems.throw_if_any();
  }

  void list_assumed(const std::vector<AskedVariable>& asked, const std::set<std::string>& mattering,
                    Draft& draft) const {
    for (const AskedVariable& one : asked) {
      const bool matters = mattering.contains(one.name) || untried_.contains(one.name);
      if (!matters && (one.preset || !one.chooses)) continue;
      const bool is_plain = one.preset && one.preset->find('$') == std::string::npos;
      draft.assume({.what = shown(one),
                    .value = !one.preset || one.preset->empty() ? "empty"
                             : is_plain                         ? *one.preset
                                                                : "as the script presets it",
                    .why = fmt::format("{}:{} asks for it, and nobody sets it",
                                       one.place.source->name, one.place.line),
                    .state = fmt::format("--env {}=VALUE", one.name)});
    }
  }

  void note_missing(const std::string& file, const char* what, Draft& draft) const {
    const Place place = text_->of_word(file);
    draft.note(file, place.line > 0 ? fmt::format("it is not here; {}:{} {}", place.source->name,
                                                  place.line, what)
                                    : fmt::format("it is not here; the script {}", what));
  }

  ScratchFolder scratch_;  ///< here, for processes that write into it may be killed
  std::shared_ptr<const Source> script_;
  const std::function<Draft(const MegatronLaunch&)>& make_;
  LaunchedGpus known_;
  ScriptMachine machine_;
  Variables variables_, filled_;
  std::optional<ScriptText> text_;
  Names missing_, absent_, silent_;  ///< files that are not here; programs that print nothing
  std::vector<Names> changing_;      ///< groups of names that were tried, and change something
  bool answers_itself_ = false;      ///< it runs without what conditions ask for
  std::set<std::string> untried_;    ///< variables that there was no time for
  TrialTime trial_time_;
};

}  // namespace

std::pair<Words, Words> split_arguments(const Words& all) {
  const auto option =
      std::ranges::find_if(all, [](const std::string& word) { return word.starts_with("--"); });
  const auto end = std::find(option, all.end(), "--");
  Words arguments(all.begin(), option);
  if (end != all.end()) arguments.insert(arguments.end(), end + 1, all.end());
  return {arguments, {option, end}};
}

Draft draft_of_script(const std::shared_ptr<const Source>& script, const ImportOptions& options,
                      const std::function<Draft(const MegatronLaunch&)>& make) {
  const InterruptNoted noted;  // the scratch folder goes before a signal ends the program
  Draft draft = ScriptImport(script, options, make).draft();
  if (InterruptNoted::came()) throw Interrupted();
  return draft;
}

}  // namespace stepsim
