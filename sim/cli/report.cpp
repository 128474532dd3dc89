// The options of `stepsim report`.
#include "sim/command/report.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_report(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ReportOptions>();
  CLI::App* report = app.add_subcommand("report", "make an index page of a folder of results");
  report->footer(
      "Results are what `stepsim run --format json` prints, a file each; a page of the same name\n"
      "(--html) is linked.\n"
      "Exit codes: 0 written, 2 bad input, or nothing to list, 4 a file cannot be read or written."
      "\n\n"
      "Example: stepsim report history --baseline release.json");
  report->add_option("folder", kept->folder, "folder of results and pages")
      ->required()
      ->check(not_empty());
  report->add_option("--baseline", kept->baseline, "a result, or a folder of them, to compare with")
      ->check(not_empty());
  add_format(*report, kept->format, {"table", "json"});
  add_output(*report, "--html", kept->html, "the index; default: index.html in the folder")
      ->check(not_empty());
  add_force(*report, kept->force);
  report->callback([kept, &chosen] {
    kept->screen = screen_here();
    chosen = [kept] { return stepsim::report(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
