// stepsim merge: files of the parts of a sweep -> one file with all of them.
#include "sim/command/merge.hpp"

#include <ostream>

#include <fmt/format.h>

#include "sim/store/merge_sweeps.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

std::string titles_of(const std::vector<SweepAxis>& axes) {
  std::string text;
  for (const SweepAxis& axis : axes)
    text += fmt::format("{}{}", text.empty() ? "" : " x ", title_of(axis));
  return text;
}

std::string files(std::int64_t count) {
  return count == 1 ? "1 file" : fmt::format("{} files", grouped(count));
}

}  // namespace

ExitCode merge(const MergeOptions& options, std::ostream& out) {
  const auto all = merge_sweeps(options.into, options.from, options.any_build);
  out << options.into << '\n';
  bool is_whole = true;
  for (const MergedSweep& sweep : all) {
    const SweepRecord& record = sweep.record;
    out << fmt::format("sweep_{}: {} of {} points from {}; {}: {}\n", sweep.view,
                       grouped(sweep.done), grouped(record.points), files(sweep.files), record.name,
                       titles_of(record.axes));
    is_whole = is_whole && sweep.done == record.points;
  }
  out << fmt::format("The command of the sweep with --db {} --resume {}\n", options.into,
                     is_whole ? "prints its table." : "simulates what is missing.");
  return ExitCode::ok;
}

}  // namespace stepsim
