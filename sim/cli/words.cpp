// The first word is a command.
#include "sim/cli/words.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

void refuse_unknown_command(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  const std::string near = closest(word, names);
  throw UserError(fmt::format(
      "no command '{}', {}", word,
      near.empty() ? did_you_mean(word, names) + "; `stepsim --help` says what they do" : near));
}

}  // namespace

std::vector<const char*> words_of(int argc, char** argv, const CLI::App& app) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.resize(std::min<std::size_t>(words.size(), 2));
    words.push_back("--help");
  }
  if (words.size() > 1 && words[1][0] != '-') refuse_unknown_command(words[1], app);
  return words;
}

}  // namespace stepsim
