// How long a communication group keeps a rank's links busy: the length of a union of intervals.
#include "sim/timeline/busy.hpp"

#include <algorithm>

namespace stepsim {

double busy(const RankTimeline& rank, std::string_view group, double from, double to) {
  // Backward in order of end, each span adds what lies before the earliest start seen so far.
  double seconds = 0;
  double counted_from = to;
  for (auto span = rank.spans.rbegin(); span != rank.spans.rend() && span->end > from; ++span) {
    const Row& row = rank.rows[span->row];
    if (row.kind != RowKind::communication || row.group != group) continue;
    const double start = std::max(span->start, from);
    seconds += std::max(0.0, std::min(span->end, counted_from) - start);
    counted_from = std::min(counted_from, start);
  }
  return seconds;
}

}  // namespace stepsim
