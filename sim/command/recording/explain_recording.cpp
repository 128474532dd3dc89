// stepsim explain of recordings: where their steps go, why their GPUs are idle, who is late.
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "sim/command/explain.hpp"
#include "sim/command/recording/read_job.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/replay/replay.hpp"
#include "sim/report/recording/recording_report.hpp"

namespace stepsim {

ExitCode explain_recording(const ExplainOptions& options, std::ostream& out) {
  const std::string& path = options.scenario.path;
  if (is_simulated(path)) return explain_trace(options, out);
  if (!options.scenario.overrides.empty())
    throw UserError(fmt::format(
        "{}: --set changes a scenario; a recording of a real run is as it was", quoted_path(path)));
  const ReadJob read = read_job(path);
  std::optional<Replay> replayed;
  if (read.pace) replayed = replay(*read.pace);
  out << (options.format == "json" ? to_json(read.job, replayed)
                                   : to_table(read.job, options.screen, replayed));
  return ExitCode::ok;
}

}  // namespace stepsim
