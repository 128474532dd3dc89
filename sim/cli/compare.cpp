// The options of `stepsim compare`.
#include "sim/command/compare.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_compare(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<CompareOptions>();
  CLI::App* compare =
      app.add_subcommand("compare", "say what differs between answers, cause by cause");
  CompareOptions& options = *kept;
  compare->footer(
      "Exit codes: 0 compared, 1 worse than --baseline allows, 2 bad input, 3 a simulation "
      "could\n"
      "not complete, 4 a file cannot be read.\n\n"
      "Example: stepsim compare mine.yaml --vs host.mode=graph");
  compare
      ->add_option(
          "files", options.files,
          "scenarios (YAML), or results of `stepsim run --format json`; or a scenario and a "
          "recording")
      ->required()
      ->check(not_empty());
  compare->add_option("--set", options.overrides, "path=value, in all scenarios (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  compare->add_option("--vs", options.variants,
                      "path=value ...: compare with the first scenario with these changes on "
                      "top (repeatable)");
  compare
      ->add_option("--baseline", options.baseline,
                   "a result that the only file must be as good as, within --tolerance")
      ->check(not_empty());
  compare
      ->add_option("--tolerance", options.tolerance,
                   "by how much step time and memory may be worse; default: 2%")
      ->check(not_empty());
  add_format(*compare, options.format, {"table", "json", "csv", "markdown"});
  add_html(*compare, options.html);
  add_force(*compare, options.force);
  add_jobs(*compare, options.jobs, "simulations at the same time; default: as many as cores");
  compare->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::compare(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
