// The options of `stepsim sweep`.
#include "sim/command/sweep.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/build_identity.hpp"
#include "sim/cli/options.hpp"

namespace stepsim {

void add_sweep(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<SweepOptions>();
  CLI::App* sweep =
      app.add_subcommand("sweep", "simulate a scenario along axes, and find the best point");
  SweepOptions& options = *kept;
  sweep->footer(
      "VALUES are a list (1, 2, 4), a range (1..8, 10..100+10, 1MiB..256MiB*2) or both; linked\n"
      "keys take theirs in pairs: --vary a,b=1:8,2:4. Points that do not divide or fit are "
      "said.\n"
      "Exit codes: 0 done, 1 no point is ok, 2 bad input, 3 interrupted: --resume goes on,\n"
      "4 a file cannot be read or written.\n\n"
      "Example: stepsim sweep mine.yaml "
      "--vary parallelism.data.bucket=1MiB..256MiB*2");
  add_scenario(*sweep, options.scenario);
  const auto repeatable = [](CLI::Option* option) { option->take_all()->allow_extra_args(false); };
  repeatable(sweep->add_option("--vary", options.vary, "path=values (repeatable): an axis"));
  repeatable(sweep->add_option("--where", options.where,
                               "condition for points, as in 'tensor * pipeline <= 64' "
                               "(repeatable)"));
  sweep->add_option("--random", options.random, "so many points of the grid, drawn")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
  sweep->add_option("--seed", options.seed, "of that draw; default: 1")->check(positive());
  sweep->add_option("--objective", options.objective,
                    "what is best: step_time, mfu, tokens_per_s, samples_per_s, "
                    "tokens_per_s_per_gpu, memory or cost");
  sweep->add_option("--top", options.top, "best points that are listed; default: 10")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
  add_format(*sweep, options.format, {"table", "json", "csv"});
  add_html(*sweep, options.html);
  add_force(*sweep, options.force);
  add_output(*sweep, "--db", options.store,
             "file of results (SQLite); default: SCENARIO.sweep.db beside the scenario, "
             "SCENARIO.2-of-8.sweep.db of a part")
      ->check(not_empty());
  CLI::Option* resume =
      sweep->add_flag("--resume", options.resume, "go on where the same sweep was stopped");
  sweep->add_flag("--restart", options.restart, "forget what the file has of the same sweep")
      ->excludes(resume);
  sweep->add_flag("--any-build", options.any_build,
                  "keep points that another build of stepsim has simulated");
  add_jobs(*sweep, options.jobs,
           "points at the same time; default: as many as cores, of several ranks (mpirun, "
           "srun) 1 each");
  sweep
      ->add_option("--shard", options.shard,
                   "2/8: the second of eight parts of the points; stepsim merge unites their files")
      ->check(not_empty());
  sweep->add_option("--point-timeout", options.point_timeout,
                    "time that a point may take; default: 10min");
  sweep->add_option("--point-memory", options.point_memory,
                    "memory that the simulation of a point may take, like 2GiB");
  sweep->callback([kept, &chosen] {
    kept->screen = screen_here();
    kept->build = kBuildIdentity;
    chosen = [kept] { return stepsim::sweep(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
