// The options of `stepsim new`.
#include "sim/command/new.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_new(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<NewOptions>();
  CLI::App* start = app.add_subcommand("new", "begin a scenario from a template");
  start->footer(
      "Exit codes: 0 listed, printed or written, 2 bad input, 4 a file cannot be read or "
      "written.\n\n"
      "Examples: stepsim new\n"
      "          stepsim new finetune-fsdp2 -o mine.yaml");
  start->add_option("template", kept->name, "its name; default: lists all")->check(not_empty());
  add_output(*start, "-o", kept->output, "file to write instead of standard output")
      ->check(not_empty());
  add_force(*start, kept->force);
  start->callback(
      [kept, &chosen] { chosen = [kept] { return new_scenario(*kept, std::cout, std::cerr); }; });
}

}  // namespace stepsim
