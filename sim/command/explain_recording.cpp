// stepsim explain of a recording: where its steps go, and why its GPU is idle.
#include <filesystem>
#include <ostream>
#include <vector>

#include <fmt/format.h>

#include "sim/command/explain.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/read_recordings.hpp"
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
  const std::vector<Recording> recordings = read_recordings(path);
  Observation seen = observe(recordings.front(), kinds);
  if (recordings.size() > 1)
    seen.not_known.insert(
        seen.not_known.begin(),
        fmt::format("The file holds {} recordings, each of a GPU of a process: only the first is "
                    "looked at.",
                    recordings.size()));
  out << (options.format == "json" ? to_json(seen) : to_table(seen, options.screen));
  return ExitCode::ok;
}

}  // namespace stepsim
