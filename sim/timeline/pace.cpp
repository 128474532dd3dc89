// Sums over the spans of the measured steps.
#include "sim/timeline/pace.hpp"

#include <numeric>

namespace stepsim {
namespace {

/// The work of a span: without launch gaps, and without what collectives beside it cost, because
/// that depends on others.
double own_work(const Timeline& timeline, const Span& span) {
  if (span.mix < 0) return span.end - span.start - span.contention;
  const CauseSeconds& mix = timeline.mixes[static_cast<std::size_t>(span.mix)];
  return span.pace * std::accumulate(mix.begin(), mix.end(), 0.0);
}

}  // namespace

std::vector<RankPace> paces_of(const Timeline& timeline) {
  std::vector<RankPace> paces;
  for (const RankTimeline& rank : timeline.ranks) {
    RankPace& pace = paces.emplace_back(RankPace{rank.rank, rank.stage, rank.members});
    if (pace.members.empty()) pace.members = {rank.rank};
    for (const Span& span : rank.spans) {
      if (span.step < timeline.warmup || span.step >= timeline.step_ends.size()) continue;
      if (span.cause == Cause::stall) pace.stall += span.end - span.start;
      if (rank.rows[span.row].kind == RowKind::compute) pace.work += own_work(timeline, span);
    }
  }
  return paces;
}

}  // namespace stepsim
