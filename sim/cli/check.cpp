// The options of `stepsim check`.
#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_check(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ScenarioArgument>();
  CLI::App* check = app.add_subcommand("check", "check a scenario without running it");
  add_scenario(*check, *kept);
  check->callback(
      [kept, &chosen] { chosen = [kept] { return stepsim::check(*kept, std::cout); }; });
}

}  // namespace stepsim
