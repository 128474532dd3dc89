// stepsim explain of recordings: where their steps go, why their GPUs are idle, who is late.
#include <ostream>

#include <fmt/format.h>

#include "sim/command/explain.hpp"
#include "sim/command/recording/read_job.hpp"
#include "sim/core/source.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/report/recording/recording_report.hpp"

namespace stepsim {

ExitCode explain_recording(const ExplainOptions& options, std::ostream& out) {
  const std::string& path = options.scenario.path;
  if (is_simulated(path)) return explain_trace(options, out);
  if (!options.scenario.overrides.empty())
    throw UserError(fmt::format(
        "{}: --set changes a scenario; a recording of a real run is as it was", quoted_path(path)));
  const RecordedJob job = read_job(path);
  out << (options.format == "json" ? to_json(job) : to_table(job, options.screen));
  return ExitCode::ok;
}

}  // namespace stepsim
