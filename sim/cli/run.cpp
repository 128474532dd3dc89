// The options of `stepsim run`.
#include "sim/command/run.hpp"

#include <iostream>
#include <memory>
#include <tuple>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_run(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<RunOptions>();
  const auto fold = std::make_shared<std::string>("auto");
  const auto requires_fit = std::make_shared<bool>(false);
  CLI::App* run = app.add_subcommand("run", "simulate a scenario and print the answer");
  add_scenario(*run, kept->scenario);
  add_format(*run, kept->format, {"table", "json", "csv"});
  add_output(*run, "--trace", kept->trace, "write a Chrome trace (.json or .json.gz) for Perfetto")
      ->check([](const std::string& file) {
        return file.empty() ? "a file name, in .json or .json.gz, is missing" : "";
      });
  add_html(*run, kept->html);
  add_force(*run, kept->force);
  for (const auto& [name, text, what] :
       {std::tuple{"--trace-steps", &kept->trace_words.steps,
                   "steps of the trace, as 3 or 3-5; default: all"},
        std::tuple{"--trace-ranks", &kept->trace_words.ranks,
                   "ranks of the trace, as 0,8-15; default: all that are simulated"}})
    run->add_option(name, *text, what)->check(not_empty())->needs("--trace");
  run->add_option(
         "--trace-level", kept->trace_words.level,
         "what a slice of a compute row is: a kernel, or all between two points of contact")
      ->check(one_of_these({"kernel", "task"}))
      ->needs("--trace");
  run->add_option("--fold", *fold, "auto: simulate one rank of each kind; off: every rank")
      ->check(one_of_these({"auto", "off"}));
  const auto engine = std::make_shared<std::string>();
  run->add_option("--engine", *engine,
                  "what shares links: exact, or simgrid as a second opinion (run.engine)")
      ->check(one_of_these({"exact", "simgrid"}));
  add_jobs(*run, kept->jobs, "replicas at the same time (run.replicas); default: as many as cores");
  run->add_flag("--require-fit", *requires_fit,
                "fail where it does not fit in memory, with exit code 1, as expect: {fits: true}");
  run->add_flag("--stats", kept->stats, "also print wall time and memory of the simulation itself");
  run->callback([kept, fold, engine, requires_fit, &chosen] {
    if (!engine->empty()) kept->scenario.overrides.emplace_back("run.engine=" + *engine);
    if (*requires_fit) kept->scenario.overrides.emplace_back("expect.fits=true");
    kept->fold = *fold == "auto";
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::run(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
