// The options of `stepsim show`.
#include "sim/command/show.hpp"

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "sim/cli/options.hpp"
#include "sim/core/error.hpp"

namespace stepsim {

void add_show(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ShowOptions>();
  CLI::App* show = app.add_subcommand("show", "show what lies between the scenario and the answer");
  show->footer(
      "Exit codes: 0 shown, 2 bad input, 3 the simulation cannot complete, 4 a file cannot be "
      "read.\n\n"
      "show model takes the name or the file of a model, too: models/, YAML, config.json.\n\n"
      "Examples: stepsim show model config.json\n"
      "          stepsim show memory mine.yaml\n"
      "          stepsim show collective mine.yaml --op all_gather");
  show->add_option("what", kept->what)
      ->required()
      ->check(one_of_these(
          {"scenario", "model", "cluster", "ops", "plan", "memory", "timeline", "collective"}));
  add_scenario(*show, kept->scenario);
  show->add_flag("--dot", kept->dot, "cluster: a picture, for Graphviz's dot");
  CollectiveQuestion& question = kept->collective;
  std::vector<CLI::Option*> of_collective{
      show->add_option("--op", question.op, "collective: all_reduce, all_gather, ..."),
      show->add_option("--bytes", question.bytes, "collective: its size as in nccl-tests"),
      show->add_option("--group", question.group, "collective: tensor, data, expert, ...")};
  CLI::Option* format =
      show->add_option("--format", question.format, "collective, model and timeline: table or json")
          ->check(one_of_these({"table", "json"}));
  show->callback([kept, &chosen, of_collective, format] {
    if (*format && kept->what != "collective" && kept->what != "model" && kept->what != "timeline")
      throw UserError(fmt::format(
          "show {} has no --format: it is for `show collective`, `show model` and `show timeline`",
          kept->what));
    for (const CLI::Option* option : of_collective) {
      if (*option && kept->what != "collective")
        throw UserError(fmt::format("show {} has no {}: it is for `show collective`", kept->what,
                                    option->get_name()));
    }
    chosen = [kept] { return stepsim::show(*kept, std::cout); };
  });
}

}  // namespace stepsim
