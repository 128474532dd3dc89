// Unions of the spans of rows of a kind.
#include "sim/recording/simulated/rank_time.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace stepsim {

Nanoseconds nanoseconds_of(double seconds) { return std::llround(seconds * 1e9); }

GpuRows gpu_rows(const RankTimeline& rank) {
  std::vector<Interval> all, compute, communication, copies;
  for (const Span& span : rank.spans) {
    const Interval time{nanoseconds_of(span.start), nanoseconds_of(span.end)};
    const RowKind kind = rank.rows[span.row].kind;
    if (kind == RowKind::compute) compute.push_back(time);
    if (kind == RowKind::communication) communication.push_back(time);
    if (kind == RowKind::copy) copies.push_back(time);
  }
  for (const auto* rows : {&compute, &communication, &copies})
    all.insert(all.end(), rows->begin(), rows->end());
  return {united(std::move(all)), united(std::move(compute)), united(std::move(communication)),
          united(std::move(copies))};
}

}  // namespace stepsim
