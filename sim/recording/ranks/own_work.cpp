// Adds a rank's work up, moment after moment.
#include "sim/recording/ranks/own_work.hpp"

namespace stepsim {
namespace {

OwnWork work_of(IdleKind kind) {
  switch (kind) {
    case IdleKind::late_loader:
      return OwnWork::loader;
    case IdleKind::late_sync:
      return OwnWork::sync;
    case IdleKind::late_runtime:
    case IdleKind::late_operation:
    case IdleKind::late_python:
    case IdleKind::launch_latency:
    case IdleKind::tiny:
      return OwnWork::host;
    case IdleKind::queued:
    case IdleKind::tail:
    case IdleKind::unmatched:
      return OwnWork::not_known;
  }
  return OwnWork::not_known;
}

}  // namespace

OwnWorkSets own_work_of(const GpuRows& rows, const IdleTime& idle, Interval window) {
  OwnWorkSets sets;
  sets[static_cast<std::size_t>(OwnWork::kernels)] = clipped(rows.compute, window);
  sets[static_cast<std::size_t>(OwnWork::copies)] =
      clipped(difference(rows.copies, rows.compute), window);
  for (const IdlePiece& piece : idle.pieces)
    sets[static_cast<std::size_t>(work_of(piece.kind))].push_back(piece.time);
  return sets;
}

OwnWorkTimes OwnWorkUntil::at(Nanoseconds moment) {
  OwnWorkTimes times = passed_;
  for (std::size_t i = 0; i < kOwnWorks; ++i) {
    const IntervalSet& set = (*sets_)[i];
    std::size_t& next = next_[i];
    for (; next < set.size() && set[next].end <= moment; ++next) passed_[i] += set[next].length();
    times[i] = passed_[i];
    if (next < set.size()) times[i] += Interval{set[next].start, moment}.length();
  }
  return times;
}

}  // namespace stepsim
