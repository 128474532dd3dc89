// The options of `stepsim search`.
#include "sim/command/search/search.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_search(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<SearchOptions>();
  CLI::App* search = app.add_subcommand("search", "find the best way to split a scenario");
  SearchOptions& options = *kept;
  search->footer(
      "Exit codes: 0 a strategy was found, 1 none fits in memory or meets the deadline, 2 bad "
      "input,\n"
      "3 interrupted, or the training could not be followed, 4 a file could not be read or "
      "written.\n\n"
      "Example: stepsim search mine.yaml --only tensor=4,8 -o best.yaml");
  add_scenario(*search, options.scenario);
  search->add_option("--only", options.only, "axis=values: what to search, as in tensor=1,2,4")
      ->take_all()
      ->allow_extra_args(false);
  search->add_option("--gpus", options.gpus, "how many: 512, or several: 64..4096, 64,96,128")
      ->check(not_empty());
  search
      ->add_option("--clusters", options.clusters,
                   "compare them on as many GPUs, with dollars an hour of a GPU if you like: "
                   "dgx-h100=2.5,dgx-b200=5")
      ->check(not_empty());
  search->add_option("--tokens", options.tokens, "length of the training: 300e9, 2T")
      ->check(not_empty());
  search
      ->add_option("--max-memory", options.max_memory,
                   "share of a GPU's memory that a strategy may fill: 92%; default: all but "
                   "run.memory_margin, 93%")
      ->check(not_empty());
  search->add_option("--deadline", options.deadline, "the training is to end within it: 30d")
      ->check(not_empty());
  search->add_option("--objective", options.objective,
                     "of several numbers of GPUs: step_time, gpus, cost, mfu, tokens_per_s or "
                     "memory; default: step_time, with --deadline gpus");
  add_html(*search, options.html);
  search->add_option("--keep", options.keep, "strategies to list")->check(CLI::Range(1, 1000));
  search
      ->add_option("--simulations", options.simulations,
                   "simulate at most so many, for each number of GPUs; default: 300")
      ->check(CLI::Range(1, 1'000'000));
  search->add_option("--budget", options.budget,
                     "time for bounds and simulations, for each number of GPUs: 60s");
  search
      ->add_option("--strategy-timeout", options.strategy_timeout,
                   "time that a simulation may take; default: 10min")
      ->check(not_empty());
  add_format(*search, options.format, {"table", "json", "csv"});
  add_output(*search, "-o,--output", options.output, "write the scenario with the best strategy")
      ->check(not_empty());
  add_force(*search, options.force);
  add_jobs(*search, options.jobs, "simulations at the same time; default: cores");
  search->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::search(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
