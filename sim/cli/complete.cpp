// stepsim complete: the words that may stand next on a command line. Shells ask for them
// (sim/package/completions/); what there is to choose is what the commands' own options say.
#include <algorithm>
#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"
#include "sim/cli/words.hpp"
#include "sim/command/list.hpp"
#include "sim/command/next_words.hpp"

namespace stepsim {
namespace {

using Words = std::vector<std::string>;

/// Where the last word of a command line stands.
struct Spot {
  const CLI::App* command = nullptr;
  const CLI::Option* option = nullptr;  ///< whose value it is; nullptr: of none
  Words positionals;                    ///< that stand before it
};

bool has_equals(const std::string& word) { return word.find('=') != std::string::npos; }

const CLI::App* inner_command(const std::string& word, const CLI::App& command) {
  const auto inner =
      command.get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
  return inner.empty() ? nullptr : inner.front();
}

const CLI::Option* option_called(const std::string& word, const CLI::App& command) {
  const std::string name = word.substr(0, word.find('='));
  return name.starts_with('-') ? command.get_option_no_throw(name) : nullptr;
}

Spot spot_behind(const Words& words, const CLI::App& app) {
  Spot spot{&app};
  for (const std::string& word : words) {
    if (spot.option != nullptr) {
      spot.option = nullptr;
    } else if (const CLI::Option* option = option_called(word, *spot.command)) {
      const bool wants_value = option->get_items_expected_max() > 0 && !has_equals(word);
      if (wants_value) spot.option = option;
    } else if (const CLI::App* inner = inner_command(word, *spot.command)) {
      spot.command = inner;
      spot.positionals.clear();
    } else if (!word.starts_with('-')) {
      spot.positionals.push_back(word);
    }
  }
  return spot;
}

std::vector<NextWord> as_next_words(const Words& words) {
  std::vector<NextWord> found;
  for (const std::string& word : words) found.push_back({word, ""});
  return found;
}

std::vector<NextWord> values_of(const CLI::Option& option, const std::string& begun) {
  const std::string meaning = option.get_description();
  if (meaning.starts_with("path=")) return next_words_of_setting(begun, option.check_lname("vary"));
  const Words choices = choices_of(option);
  return choices.empty() ? names_pointed_to(meaning) : as_next_words(choices);
}

std::vector<NextWord> options_of(const CLI::App& command) {
  std::vector<NextWord> found;
  for (const CLI::Option* option : command.get_options()) {
    const Words names = option->get_lnames();
    for (const std::string& name : names) found.push_back({"--" + name, option->get_description()});
    for (const std::string& name : option->get_snames())
      if (names.empty()) found.push_back({"-" + name, option->get_description()});
  }
  return found;
}

/// What takes the next word that is no option.
const CLI::Option* next_positional(const Spot& spot) {
  std::vector<const CLI::Option*> takers;
  for (const CLI::Option* option : spot.command->get_options())
    if (option->get_positional()) takers.push_back(option);
  if (spot.positionals.size() < takers.size()) return takers[spot.positionals.size()];
  const bool takes_all = !takers.empty() && takers.back()->get_items_expected_max() > 1;
  return takes_all ? takers.back() : nullptr;
}

std::vector<NextWord> words_at(const Spot& spot) {
  std::vector<NextWord> found;
  for (const CLI::App* inner :
       spot.command->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    found.push_back({inner->get_name(), inner->get_description()});
  const CLI::Option* taker = next_positional(spot);
  if (taker == nullptr) return found;
  // The one command that takes a model in place of a scenario.
  const bool is_model = spot.command->get_name() == "show" && spot.positionals == Words{"model"};
  for (NextWord& one : is_model ? as_next_words(names_of_listing("models")) : values_of(*taker, ""))
    found.push_back(std::move(one));
  return found;
}

/// `words`: those of the command line behind the program, the last one as far as it is typed.
std::vector<NextWord> next_words(Words words, const CLI::App& app) {
  const std::string begun = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  if (!words.empty() && words.front() == "help") words.erase(words.begin());
  const Spot spot = spot_behind(words, app);
  if (spot.option != nullptr) return values_of(*spot.option, begun);
  const CLI::Option* here = option_called(begun, *spot.command);
  if (here != nullptr && has_equals(begun)) {
    const std::size_t value = begun.find('=') + 1;
    std::vector<NextWord> found = values_of(*here, begun.substr(value));
    for (NextWord& one : found) one.word.insert(0, begun, 0, value);
    return found;
  }
  return begun.starts_with('-') ? options_of(*spot.command) : words_at(spot);
}

}  // namespace

void add_complete(CLI::App& app, Action& chosen) {
  const auto words = std::make_shared<Words>();
  CLI::App* complete = app.add_subcommand("complete", "print the words that may stand next");
  complete->group("");  // for shells, not for people
  complete->footer(
      "Prints a word and its meaning a line, with a tab between. Exit codes: 0 printed, 4 a file "
      "cannot be read.\n\n"
      "Example: stepsim complete -- run --set par");
  complete->add_option("words", *words, "behind --: those of a command line, the last one begun");
  complete->callback([words, &app, &chosen] {
    chosen = [words, &app] {
      const std::string begun = words->empty() ? "" : words->back();
      for (const NextWord& one : next_words(*words, app))
        if (one.word.starts_with(begun)) std::cout << one.word << '\t' << one.meaning << '\n';
      return ExitCode::ok;
    };
  });
}

}  // namespace stepsim
