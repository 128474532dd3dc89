// The options of `stepsim merge`.
#include "sim/command/merge.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_merge(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<MergeOptions>();
  CLI::App* merge = app.add_subcommand("merge", "unite the files of a sweep's parts");
  merge->footer(
      "Files with the same sweep must agree where they have the same points. When something is\n"
      "wrong OUT stays as it was.\n"
      "Exit codes: 0 merged, 2 files that do not go together, 4 a file cannot be read or written."
      "\n\n"
      "Example: stepsim merge mine.sweep.db mine.*-of-8.sweep.db");
  add_output(*merge, "OUT", kept->into, "file of results; made where there is none")
      ->required()
      ->check(not_empty());
  merge->add_option("IN", kept->from, "files of results: of --shard, or any sweeps")
      ->required()
      ->check(not_empty());
  merge->add_flag("--any-build", kept->any_build,
                  "unite points that different builds of stepsim have simulated");
  merge->callback(
      [kept, &chosen] { chosen = [kept] { return stepsim::merge(*kept, std::cout); }; });
}

}  // namespace stepsim
