// The options of `stepsim check`.
#include "sim/command/check.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_check(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ScenarioArgument>();
  CLI::App* check = app.add_subcommand("check", "check a scenario without running it");
  check->footer(
      "Exit codes: 0 it is fine, 2 bad input, 4 a file cannot be read.\n\n"
      "Example: stepsim check mine.yaml --set training.micro_batch=2");
  add_scenario(*check, *kept);
  check->callback(
      [kept, &chosen] { chosen = [kept] { return stepsim::check(*kept, std::cout); }; });
}

}  // namespace stepsim
