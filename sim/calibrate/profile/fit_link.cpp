// Collectives of one node: lines of a link profile for the groups that were measured.
#include <algorithm>
#include <map>

#include "sim/calibrate/profile/collective_groups.hpp"

namespace stepsim {
namespace {

/// The lines that a link has for that group.
RegimeLines lines_of(const LinkProfile& link, const CollectiveGroup& group) {
  RegimeLines lines;
  for (const CollectiveLine& line : link.*stated_collective(group.op)->lines) {
    if (line.ranks == group.ranks)
      lines[{line.algorithm, line.protocol}].push_back(
          {line.latency, 1 / line.bandwidth.bytes_per_second()});
  }
  return lines;
}

/// Measured lines take the place of those of their own number of GPUs, algorithm and protocol;
/// nothing was measured of the others.
void make_room(std::vector<CollectiveLine>& list, int ranks, const RegimeLines& lines) {
  std::erase_if(list, [&](const CollectiveLine& line) {
    return line.ranks == ranks && lines.contains({line.algorithm, line.protocol});
  });
}

}  // namespace

void fit_collectives(const Records& records, const Cluster& node, LinkDraft& draft) {
  struct Fitted {
    FamilyReport report;
    RegimeLines lines;
  };
  std::map<CollectiveGroup, Fitted> fitted;
  for (const auto& [group, messages] : messages_of(records, false)) {
    const GroupFit fitting(group, messages, node);
    const RegimeLines lines = fitting.lines();
    FamilyReport report = report_of(fitting, lines, messages);
    report.base_errors = fitting.errors(lines_of(node.intra_node, group), sizes_of(messages));
    if (report.base_errors->points == 0) report.base_errors.reset();
    make_room(draft.profile.*stated_collective(group.op)->lines, group.ranks, lines);
    fitted[group] = {std::move(report), lines};
  }
  // Sources name lines by their places, so that none is taken away any more from here on.
  for (const auto& [group, one] : fitted) {
    std::vector<CollectiveLine>& list = draft.profile.*stated_collective(group.op)->lines;
    for (const auto& [regime, lines] : one.lines) {
      for (const fit::Line& line : lines) {
        draft.state(fmt::format("{}[{}]", name_of(group.op), list.size()), id_of(one.report.family),
                    fit_source(draft.origin, one.report));
        list.push_back(line_of(group.ranks, regime, line));
      }
    }
    draft.families.push_back(one.report);
  }
}

}  // namespace stepsim
