// The options of `stepsim keys`.
#include "sim/command/keys.hpp"

#include <iostream>
#include <memory>

#include <fmt/ranges.h>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_keys(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<KeysOptions>();
  CLI::App* keys = app.add_subcommand("keys", "say what a key of a scenario is, or find one");
  keys->footer(
      "Exit codes: 0 printed, 2 nothing matches.\n\n"
      "Examples: stepsim keys training.recompute\n"
      "          stepsim keys seq_len\n"
      "          stepsim keys bucket");
  const auto words = std::make_shared<std::vector<std::string>>();
  keys->add_option("wanted", *words,
                   "a path, a framework's name for it, or words; none: the maps of a scenario");
  keys->callback([kept, words, &chosen] {
    kept->wanted = fmt::format("{}", fmt::join(*words, " "));
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::keys(*kept, std::cout); };
  });
}

}  // namespace stepsim
