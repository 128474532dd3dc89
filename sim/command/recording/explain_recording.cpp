// stepsim explain of recordings: where their steps go, why their GPUs are idle, who is late.
#include <algorithm>
#include <optional>
#include <ostream>

#include <fmt/format.h>

#include "sim/command/explain.hpp"
#include "sim/command/page/answer_page.hpp"
#include "sim/command/recording/read_job.hpp"
#include "sim/core/source.hpp"
#include "sim/page/page.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/replay/replay.hpp"
#include "sim/report/recording/recording_report.hpp"

namespace stepsim {
namespace {

/// One rank's plan has no others that wait; what they waited is what they would gain.
void add_late_rank(Replay& replay, const RecordedJob& job) {
  if (job.late_ranks.empty() || replay.changes.empty()) return;
  const LateRank& late = job.late_ranks.front();
  if (late.before_s > late.late_s / 2) return;
  const double before = replay.changes.front().before_s;
  replay.changes.push_back(
      {"straggler",
       fmt::format("rank {} comes with the next to last (as others waited)", late.rank.value_or(0)),
       before, before - late.alone_s});
  std::ranges::stable_sort(replay.changes, std::ranges::greater{}, &ReplayedChange::gain_s);
}

}  // namespace

ExitCode explain_recording(const ExplainOptions& options, std::ostream& out, std::ostream& notes) {
  const std::string& path = options.scenario.path;
  if (is_simulated(path)) return explain_trace(options, out, notes);
  if (!options.scenario.overrides.empty())
    throw UserError(fmt::format(
        "{}: --set changes a scenario; a recording of a real run is as it was", quoted_path(path)));
  const Output page = html_output(options.html, options.force, kExplainPages);
  Patience patience(options.screen.progress);
  patience.begins("reading the recording");
  const ReadJob read = read_job(path, true);
  check_outputs({page});
  patience.begins("simulating it as it was, and as it would be");
  std::optional<Replay> replayed;
  const bool is_idle = read.job.pace_rank().gpu.busy == 0;  // of a GPU that was not recorded
  if (read.pace && !is_idle) replayed = replay(*read.pace);
  if (replayed) add_late_rank(*replayed, read.job);
  patience.end();
  if (!page.path.empty())
    save_page(page,
              {.kind = "recording",
               .title = read.job.path + ": where its steps go",
               .documents = {{"result", to_json(read.job, replayed)}, causes_document()}},
              notes);
  out << (options.format == "json" ? to_json(read.job, replayed)
                                   : to_table(read.job, options.screen, replayed));
  return ExitCode::ok;
}

}  // namespace stepsim
