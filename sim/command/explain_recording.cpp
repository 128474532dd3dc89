// stepsim explain of a recording: where its steps go, and why its GPU is idle.
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "sim/command/explain.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/kineto/read_kineto.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

ExitCode explain_recording(const ExplainOptions& options, std::ostream& out) {
  const std::string& path = options.scenario.path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UserError(fmt::format(
        "{}: this is a folder; recordings of several ranks are not read yet: name one rank's file",
        quoted_path(path)));
  if (!options.scenario.overrides.empty())
    throw UserError(fmt::format(
        "{}: --set changes a scenario; a recording of a real run is as it was", quoted_path(path)));
  const KernelKinds kinds = load_kernel_kinds(library_for(path));
  const Observation seen = observe(read_kineto(path), kinds);
  out << (options.format == "json" ? to_json(seen) : to_table(seen, options.screen));
  return ExitCode::ok;
}

}  // namespace stepsim
