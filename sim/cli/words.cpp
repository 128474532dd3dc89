// The first word is a command; others are options and what they name.
#include "sim/cli/words.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The commands that --help lists. One that shells alone ask for is in no group, and left out.
std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

void refuse_unknown_command(const std::string& word, const CLI::App& app) {
  const auto is_it = [&](const CLI::App* command) { return command->get_name() == word; };
  if (std::ranges::any_of(commands_of(app), is_it)) return;
  const std::vector<std::string> names = names_of_commands(app);
  const std::string near = closest(word, names);
  throw UserError(fmt::format(
      "no command '{}', {}", word,
      near.empty() ? "known: " + one_of(names) + "; `stepsim --help` says what they do" : near));
}

/// The command that was being read: the last of `import`, `megatron`.
const CLI::App& last_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : last_command(*chosen.back());
}

/// "`import megatron`", or the program.
std::string title_of(const CLI::App& command) {
  std::string title;
  for (const CLI::App* at = &command; at->get_parent() != nullptr; at = at->get_parent())
    title = fmt::format("{}{}{}", at->get_name(), title.empty() ? "" : " ", title);
  return title.empty() ? "stepsim" : "`" + title + "`";
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string no_option(const std::string& word, const CLI::App& command) {
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back(name);
  const auto near = nearest(option.substr(option.find_first_not_of('-')), names);
  return fmt::format("no option '{}' of {}, {}", option, title_of(command),
                     near ? fmt::format("did you mean '--{}'?", *near) : "--help lists them");
}

/// What is wrong with a word that no option takes: another command, or one word too many.
std::string no_word(const std::string& word, const CLI::App& command) {
  const std::vector<std::string> names = names_of_commands(command);
  if (names.empty()) return fmt::format("one word too many for {}: '{}'", title_of(command), word);
  return fmt::format("no command '{}' of {}, {}", word, title_of(command),
                     did_you_mean(word, names));
}

/// A command, or a word of a few.
std::string missing_word(const CLI::App& app) {
  const CLI::App& command = last_command(app);
  const std::vector<std::string> commands = names_of_commands(command);
  if (!commands.empty())
    return fmt::format("{} needs a command: {}", title_of(command), one_of(commands));
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || !option->empty()) continue;
    const std::vector<std::string> choices = choices_of(*option);
    return choices.empty() ? ""
                           : fmt::format("{} needs one of {}", title_of(command), one_of(choices));
  }
  return "";
}

std::string unknown_word(const CLI::App& app) {
  const CLI::App& command = last_command(app);
  if (command.get_allow_extras()) return "";
  const std::vector<std::string> words = command.remaining();
  if (words.empty()) return "";
  const auto option = std::ranges::find_if(words, is_option);
  return option != words.end() ? no_option(*option, command) : no_word(words.front(), command);
}

constexpr char kMark = '\x01';  // no command line has it

/// The command that the first words name: of `import megatron --nodes 2` the last of two.
const CLI::App& command_of(const std::vector<std::string>& words, const CLI::App& app) {
  const CLI::App* command = &app;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto inner =
        command->get_subcommands([&](const CLI::App* one) { return one->get_name() == words[i]; });
    if (inner.empty()) break;
    command = inner.front();
  }
  return *command;
}

void mark_foreign_words(std::vector<std::string>& words, const CLI::App& app) {
  if (!command_of(words, app).get_allow_extras()) return;
  const auto begin = std::ranges::find(words, "--");
  std::for_each(begin, words.end(), [](std::string& word) { word.insert(0, 1, kMark); });
}

/// "a.b=1": what --set takes; a file may be called so, too.
bool is_setting(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || word.front() == '-') return false;
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

/// `--set a=1 b=2` as `--set a=1 --set b=2`: an option that took all words after it would take the
/// scenario's file, too.
void repeat_set(std::vector<std::string>& words) {
  const auto follows_setting = [&](std::size_t i) {
    return words[i - 1].starts_with("--set=") || (i > 1 && words[i - 2] == "--set");
  };
  for (std::size_t i = 2; i < words.size() && words[i - 1] != "--"; ++i) {
    if (follows_setting(i) && is_setting(words[i]))
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--set");
  }
}

}  // namespace

std::string without_mark(std::string_view word) {
  return std::string(word.starts_with(kMark) ? word.substr(1) : word);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{table,json}"
  const auto begin = type.find('{'), end = type.find('}');
  std::vector<std::string> choices;
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string one; std::getline(list, one, ',');) choices.push_back(one);
  return choices;
}

std::string mistake_in_words(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return "";  // --help, --version
  const std::string unknown = unknown_word(app);
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  return unknown.empty() && is_missing ? missing_word(app) : unknown;
}

std::vector<std::string> words_of(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.resize(std::min<std::size_t>(words.size(), 2));
    words.emplace_back("--help");
  }
  if (words.size() > 1 && !words[1].starts_with('-')) refuse_unknown_command(words[1], app);
  mark_foreign_words(words, app);
  repeat_set(words);
  return words;
}

}  // namespace stepsim
