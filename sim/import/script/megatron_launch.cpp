// Finds Megatron-LM among what a script starts.
#include "sim/import/script/megatron_launch.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/import/script/programs.hpp"

namespace stepsim {
namespace {

bool is_option(const std::string& word, std::string_view name) {
  std::string plain = word.substr(0, word.find('='));
  std::ranges::replace(plain, '_', '-');
  return plain == name;
}

/// Options that every run of Megatron-LM has one of, and hardly another program.
bool has_megatron_options(const StartedProgram& launch) {
  return std::ranges::any_of(launch.words, [](const std::string& word) {
    return is_option(word, "--num-layers") || is_option(word, "--tensor-model-parallel-size") ||
           is_option(word, "--micro-batch-size") || is_option(word, "--yaml-cfg");
  });
}

/// The program that a launcher starts: a file of Python, or a module behind -m.
Words::const_iterator program_of(const Words& words) {
  const auto file = std::ranges::find_if(words, [](const std::string& word) {
    return word.ends_with(".py") && !word.starts_with("--");
  });
  if (file != words.end()) return file;
  const auto module = std::find(words.rbegin(), words.rend(), "-m");
  return module == words.rend() || module == words.rbegin() ? words.end() : module.base();
}

/// Options of the program alone, without those that differ between nodes.
Words own_words(const StartedProgram& launch) {
  const auto program = program_of(launch.words);
  Words own(program == launch.words.end() ? launch.words.begin() + 1 : program, launch.words.end());
  for (const char* rank : {"--node-rank", "--local-rank"}) {
    const auto at =
        std::ranges::find_if(own, [&](const std::string& word) { return is_option(word, rank); });
    if (at == own.end()) continue;
    const bool has_value = at->find('=') == std::string::npos && at + 1 != own.end();
    own.erase(at, at + (has_value ? 2 : 1));
  }
  return own;
}

/// Where the script starts it, as far as its words stand in the text.
Place place_of(const StartedProgram& launch, const ScriptText& text) {
  const auto program = program_of(launch.words);
  for (const std::string& word :
       {program == launch.words.end() ? std::string() : *program,
        program == launch.words.end() ? std::string() : program_name(*program),
        launch.words.front(), program_name(launch.words.front())}) {
    Place place = word.empty() ? Place{} : text.of_word(word);
    if (place.line > 0) return place;
  }
  return {};
}

/// "torchrun train.py": enough to find it.
std::string shown(const StartedProgram& launch) {
  const auto program = program_of(launch.words);
  std::string name = shell_word(launch.words.front());
  if (program != launch.words.end() && program != launch.words.begin())
    name += (program[-1] == "-m" ? " -m " : " ") + shell_word(*program);
  return name;
}

[[noreturn]] void refuse(const Place& place, const ScriptText& text, const std::string& message,
                         const std::string& proposal) {
  if (place.source) refuse_at(place, message, proposal);
  Diagnostic mistake{.message = message, .proposal = proposal};
  mistake.file = text.sources().front()->name;
  throw UserError({mistake});
}

/// The number that a text begins with; 0 where it begins with none, or one that no line has.
int line_number(std::string_view text) {
  int number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? number : 0;
}

/// "NAME: line 5: syntax error ...", as bash says it.
void refuse_syntax(const ScriptRun& run, const ScriptText& text) {
  std::istringstream lines(run.errors);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(": line "), error = line.find("syntax error");
    const bool is_of_script = line.find("unexpected", error) != std::string::npos;
    // A sum that is none has an empty variable in it.
    if (at == std::string::npos || error == std::string::npos || !is_of_script) continue;
    const Place place{text.sources().front(), line_number(std::string_view(line).substr(at + 7)),
                      1};
    refuse(place, text, "bash: " + line.substr(error), "");
  }
}

/// The last line of what the script printed to standard error, which may say why it ended; `set -x`
/// prints each command there, behind a plus.
std::string last_words(const ScriptRun& run) {
  std::string last;
  std::istringstream lines(run.errors);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with('+')) last = line;
  }
  return last;
}

/// Splits "NAME: line 5: REASON", as bash says it; no place where no source has that name. Whatever
/// the script prints may be the words.
std::pair<Place, std::string> place_and_reason(const std::string& words, const ScriptText& text) {
  constexpr std::string_view kLine = ": line ";
  constexpr std::size_t kLongestPath = 4096;
  for (std::size_t at = words.find(kLine); at < kLongestPath; at = words.find(kLine, at + 1)) {
    const std::size_t end = words.find_first_not_of("0123456789", at + kLine.size());
    if (end == std::string::npos || words.compare(end, 2, ": ") != 0) continue;
    const int line = line_number(std::string_view(words).substr(at + kLine.size()));
    const auto named = std::filesystem::path(words.substr(0, at)).lexically_normal();
    for (const auto& source : text.sources()) {
      if (line > 0 && std::filesystem::absolute(source->name).lexically_normal() == named)
        return {Place{source, line, 1}, words.substr(end + 2)};
    }
  }
  return {{}, words};
}

/// Scripts that are not here: those that shells were started with, else those that are sourced.
std::vector<std::string> missing_scripts(const ScriptRun& run) {
  std::vector<std::string> started, sourced;
  for (const std::string& file : run.missing) {
    const bool is_started =
        std::find(run.scripts.begin(), run.scripts.end(), file) != run.scripts.end();
    if (is_started) started.push_back(file);
    if (!is_started && file.ends_with(".sh")) sourced.push_back(file);
  }
  return started.empty() && run.code != 0 ? sourced : started;
}

/// What it starts instead.
[[noreturn]] void refuse_none(const ScriptRun& run, const ScriptText& text) {
  constexpr const char* none = "no Megatron-LM program is started here";
  for (const StartedProgram& launch : run.launches) {
    const std::string trainer = other_trainer(launch.words);
    if (trainer.empty()) continue;
    refuse(place_of(launch, text), text,
           fmt::format("{}: {} starts {}", none, shown(launch), trainer),
           "import a file of that program, or give Megatron-LM's options");
  }
  for (const std::string& file : missing_scripts(run)) {
    refuse(text.of_word(file), text,
           fmt::format("{}: what {} starts is not known, for it is not here", none, quoted(file)),
           "import that script, with --env NAME=VALUE for what this one hands to it");
  }
  const auto known = std::ranges::find_if(run.launches, &StartedProgram::is_known);
  if (known != run.launches.end())
    refuse(place_of(*known, text), text,
           fmt::format("{}: the script starts {}, whose options are others", none, shown(*known)),
           "");
  const auto [place, reason] = place_and_reason(last_words(run), text);
  std::string why;
  if (run.code != 0)
    why = fmt::format(": the script ends with exit code {}{}", run.code,
                      reason.empty() ? "" : " (" + quoted(reason) + ")");
  else if (!run.launches.empty())
    why = ": the script starts " + shown(run.launches.front());
  refuse(run.code == 0 ? Place{} : place, text, none + why, "");
}

/// Each option with its place, and what follows it with that of its value.
std::vector<PlacedWord> placed(const Words& words, const ScriptText& text) {
  std::vector<PlacedWord> all;
  Place of_value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      all.push_back({words[i], of_value});
      continue;
    }
    const std::size_t equals = words[i].find('=');
    std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (equals == std::string::npos && i + 1 < words.size()) value = words[i + 1];
    const auto [option, behind] = text.of_option(words[i].substr(0, equals), value);
    all.push_back({words[i], option});
    of_value = behind;
  }
  return all;
}

}  // namespace

std::vector<std::string> unknown_programs(const ScriptRun& run) {
  std::vector<std::string> names;
  for (const StartedProgram& launch : run.launches) {
    const std::string name = program_name(launch.words.front());
    const bool is_named = std::find(names.begin(), names.end(), name) != names.end();
    if (!launch.is_known && !has_megatron_options(launch) && !is_named) names.push_back(name);
  }
  return names;
}

MegatronLaunch megatron_launch(const ScriptRun& run, const ScriptText& text,
                               const LaunchedGpus& requested) {
  std::vector<StartedProgram> found;
  std::copy_if(run.launches.begin(), run.launches.end(), std::back_inserter(found),
               has_megatron_options);
  refuse_syntax(run, text);
  if (found.empty()) refuse_none(run, text);
  const Words first = own_words(found.front());
  for (const StartedProgram& other : found) {
    if (own_words(other) == first) continue;
    const Place place = place_of(found.front(), text);
    refuse(
        place_of(other, text), text,
        fmt::format("a second program is launched here, the first is {}",
                    place.line > 0 ? fmt::format("on line {}", place.line) : shown(found.front())),
        "leave one of them: a scenario is one run");
  }
  const StartedProgram& launch = found.front();
  const auto program = program_of(launch.words);
  Words words;
  if (starts_ranks(launch.words) && program_name(launch.words.front()) != "accelerate" &&
      program_name(launch.words.front()) != "deepspeed")
    words.assign(launch.words.begin() + 1,
                 program == launch.words.end() ? launch.words.begin() + 1 : program);
  const auto begin = program == launch.words.end() ? launch.words.begin() : program + 1;
  words.insert(words.end(), begin, launch.words.end());
  PlacedWord file;
  if (program != launch.words.end()) file = {program_name(*program), place_of(launch, text)};
  return {file, placed(words, text), launched_gpus(found, requested)};
}

}  // namespace stepsim
