// The options of `stepsim validate`.
#include "sim/command/validate.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_validate(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ValidateOptions>();
  CLI::App* validate =
      app.add_subcommand("validate", "predict measured runs, and say how far off that is");
  ValidateOptions& options = *kept;
  validate->footer(
      "Exit codes: 0 within all tolerances, 1 a tolerance is broken or a row has no prediction,\n"
      "2 bad input, 3 interrupted, 4 a file cannot be read or written.\n\n"
      "Example: stepsim validate validate/suites/*.yaml --baseline validate/recorded.yaml");
  validate->add_option("suites", options.suites, "files: docs/validation.md")->required();
  validate->add_option("--table", options.table, "other rows in the same columns, for one suite")
      ->check(not_empty());
  validate
      ->add_option("--filter", options.filter,
                   "condition over columns and groups, as in 'gpus > 8'; "
                   "a suite without such a column has no rows then")
      ->check(not_empty());
  add_format(*validate, options.format, {"table", "json", "csv", "junit", "github", "markdown"});
  add_jobs(*validate, options.jobs, "rows at the same time; default: as many as cores");
  validate->add_flag("--rows", options.rows, "table: every row, of several suites too");
  validate->add_flag("--causes", options.causes, "table: the breakdown of each row");
  add_html(*validate, options.html);
  add_force(*validate, options.force);
  CLI::Option* baseline = validate
                              ->add_option("--baseline", options.baseline,
                                           "fail where a group is worse than in this record")
                              ->check(not_empty());
  add_output(*validate, "--record", options.record,
             "write the errors there, those by kind of run to <stem>_runs.csv "
             "beside it, and say what changed")
      ->check(not_empty())
      ->excludes(baseline);
  validate->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::validate(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
