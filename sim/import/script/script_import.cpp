// Evaluates a script as often as it takes to know what its variables matter.
#include "sim/import/script/script_import.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/import/script/asked_variables.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A value that none of the script's own is: a draft that changes with it depends on it.
constexpr const char* kAnother = "7";
/// For all evaluations together; what is not tried by then is listed.
constexpr std::chrono::seconds kPatience{4};
/// Variables that `set -u` may ask for, one after another.
constexpr int kMostUnbound = 40;

Variables stated_variables(const ImportOptions& options) {
  Variables stated;
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

/// Does no harm where it does not matter: ranks are those of the first process.
std::string harmless_value(const std::string& name) {
  const bool is_rank = name.find("RANK") != std::string::npos ||
                       name.find("PROCID") != std::string::npos ||
                       name.find("NODEID") != std::string::npos;
  return is_rank ? "0" : "1";
}

class ScriptImport {
 public:
  ScriptImport(std::shared_ptr<const Source> script, const ImportOptions& options,
               const std::function<Draft(const MegatronLaunch&)>& make)
      : script_(std::move(script)), make_(make), known_(requested_gpus(*script_)) {
    if (options.nodes > 0) known_.nodes = options.nodes;
    variables_ = slurm_variables(*script_, known_);
    for (const auto& [name, value] : stated_variables(options)) variables_[name] = value;
  }

  Draft draft() {
    const Outcome base = outcome({});
    if (!text_) std::rethrow_exception(base.error);
    const std::vector<AskedVariable> asked = asked_variables(*text_, variables_);
    const std::set<std::string> mattering = those_that_matter(asked, base);
    ask(asked, mattering);
    if (!base.draft) std::rethrow_exception(base.error);
    Draft draft = *base.draft;
    list_assumed(asked, mattering, draft);
    for (const std::string& file : missing_) note_missing(file, draft);
    return draft;
  }

 private:
  struct Outcome {
    std::optional<Draft> draft;
    std::exception_ptr error;
    std::string text;  ///< of the draft, or of the error
  };

  /// What becomes of the script with these variables, beside those that are stated.
  Outcome outcome(const Variables& tried) {
    Outcome found;
    try {
      const ScriptRun run = run_with(tried);
      if (!text_) {
        text_.emplace(sources_of(run));
        missing_ = run.missing;
      }
      found.draft = make_(megatron_launch(run, *text_, known_));
      found.text = found.draft->text();
    } catch (const UserError& error) {
      found.error = std::current_exception();
      found.text = error.what();
    }
    return found;
  }

  /// Where `set -u` ends the script for a variable, that has a value, too.
  ScriptRun run_with(const Variables& tried) {
    for (int i = 0;; ++i) {
      Variables all = variables_;
      all.insert(tried.begin(), tried.end());
      all.insert(filled_.begin(), filled_.end());
      const ScriptRun run = run_script(*script_, all, machine());
      const std::string name = unbound_variable(run.errors);
      if (name.empty() || i > kMostUnbound || is_late()) return run;
      if (!filled_.emplace(name, harmless_value(name)).second) return run;
    }
  }

  bool is_late() const { return Clock::now() - begin_ > kPatience; }

  ScriptMachine machine() const {
    ScriptMachine machine;
    if (known_.nodes > 0) machine.nodes = known_.nodes;
    if (known_.gpus_per_node > 0) machine.gpus_per_node = known_.gpus_per_node;
    return machine;
  }

  std::vector<std::shared_ptr<const Source>> sources_of(const ScriptRun& run) const {
    std::vector<std::shared_ptr<const Source>> sources{script_};
    std::set<std::string> seen{fs::absolute(script_->name).lexically_normal()};
    std::error_code none;
    for (const std::string& file : run.read) {
      if (!seen.insert(file).second || !fs::is_regular_file(file, none)) continue;
      sources.push_back(read_source(fs::path(file).lexically_proximate(fs::current_path())));
    }
    return sources;
  }

  /// Most often none of them does, which one trial shows.
  std::set<std::string> those_that_matter(const std::vector<AskedVariable>& asked,
                                          const Outcome& base) {
    std::set<std::string> found;
    Variables all;
    for (const AskedVariable& one : asked) all[one.name] = kAnother;
    if (all.empty() || (!is_late() && outcome(all).text == base.text)) return found;
    for (const AskedVariable& one : asked) {
      if (is_late() || outcome({{one.name, kAnother}}).text != base.text) found.insert(one.name);
    }
    return found;
  }

  static std::string shown(const AskedVariable& one) {
    return (one.name.size() == 1 ? "its argument " : "") + one.name;
  }

  /// A script without a default for a variable that matters has to be told.
  static void ask(const std::vector<AskedVariable>& asked, const std::set<std::string>& mattering) {
    Problems problems;
    for (const AskedVariable& one : asked) {
      if (one.preset || !mattering.contains(one.name)) continue;
      problems.add(one.place, "",
                   fmt::format("the script asks for {}, which nobody sets", shown(one)),
                   fmt::format("state it: --env {}=VALUE", one.name));
    }
    problems.throw_if_any();
  }

  static void list_assumed(const std::vector<AskedVariable>& asked,
                           const std::set<std::string>& mattering, Draft& draft) {
    for (const AskedVariable& one : asked) {
      const bool matters = mattering.contains(one.name);
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

  void note_missing(const std::string& file, Draft& draft) const {
    const Place place = text_->of_word(file);
    draft.note(file, place.line > 0 ? fmt::format("it is not here; {}:{} reads an empty file",
                                                  place.source->name, place.line)
                                    : "it is not here; the script reads an empty file");
  }

  std::shared_ptr<const Source> script_;
  const std::function<Draft(const MegatronLaunch&)>& make_;
  LaunchedGpus known_;
  Variables variables_, filled_;
  std::optional<ScriptText> text_;
  std::vector<std::string> missing_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

Draft draft_of_script(const std::shared_ptr<const Source>& script, const ImportOptions& options,
                      const std::function<Draft(const MegatronLaunch&)>& make) {
  return ScriptImport(script, options, make).draft();
}

}  // namespace stepsim
