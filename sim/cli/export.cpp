// The options of `stepsim export`.
#include "sim/export/export.hpp"

#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_export(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ExportOptions>();
  CLI::App* to = app.add_subcommand("export", "write a framework's options for a scenario");
  to->require_subcommand(1);
  to->footer(
      "Exit codes: 0 written, 2 bad input, or the framework cannot run the plan, 4 a file cannot "
      "be read or written.\n\n"
      "Example: stepsim export megatron mine.yaml -o train.sh");
  for (const Exporter* exporter : Registry<Exporter>::all()) {
    CLI::App* framework =
        to->add_subcommand(std::string(exporter->name), std::string(exporter->description));
    add_scenario(*framework, kept->scenario);
    add_format(*framework, kept->format, {"text", "json"});
    add_output(*framework, "-o", kept->output, "file to write instead of standard output");
    add_force(*framework, kept->force);
    framework->callback([kept, framework, &chosen] {
      kept->to = framework->get_name();
      chosen = [kept] { return export_scenario(*kept, std::cout, std::cerr); };
    });
  }
}

}  // namespace stepsim
