// The options of `stepsim list`.
#include "sim/command/list.hpp"

#include <iostream>
#include <memory>
#include <string>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_list(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<std::string>();
  CLI::App* list = app.add_subcommand("list", "list the names that a scenario may use");
  list->footer(
      "Exit codes: 0 listed, 2 bad input, 4 a file cannot be read.\n\n"
      "Example: stepsim list models");
  list->add_option("what", *kept)->required()->check(one_of_these(listings()));
  list->callback([kept, &chosen] { chosen = [kept] { return stepsim::list(*kept, std::cout); }; });
}

}  // namespace stepsim
