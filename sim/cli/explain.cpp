// The options of `stepsim explain`.
#include "sim/command/explain.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_explain(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ExplainOptions>();
  CLI::App* explain =
      app.add_subcommand("explain", "say what the step of a scenario or a recording waits for");
  explain->footer(
      "Exit codes: 0 done, 2 bad input, 3 interrupted: what is known by then is printed.\n\n"
      "Examples: stepsim explain mine.yaml\n"
      "          stepsim explain worker0.pt.trace.json.gz     what torch.profiler wrote");
  add_scenario(*explain, kept->scenario);
  explain->get_option("scenario")
      ->description("scenario (YAML), a recording of a real run, or what run --trace wrote (JSON)");
  add_format(*explain, kept->format, {"table", "json"});
  add_html(*explain, kept->html);
  add_force(*explain, kept->force);
  explain->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::explain(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
