// Telling a host's work from its waits.
#include "sim/timeline/host_work.hpp"

#include <algorithm>

namespace stepsim {

bool is_host_work(const RankTimeline& rank, const Span& span) {
  const double begin =
      span.blocker == kNoSpan ? span.start : rank.spans[static_cast<std::size_t>(span.blocker)].end;
  return span.end - span.start > 2 * std::max(begin - span.start, 0.0);
}

std::vector<const Span*> host_work(const RankTimeline& rank) {
  std::vector<const Span*> work;
  for (const Span& span : rank.spans) {
    if (rank.rows[span.row].kind == RowKind::host && is_host_work(rank, span))
      work.push_back(&span);
  }
  return work;
}

}  // namespace stepsim
