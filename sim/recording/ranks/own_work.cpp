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

/// Lengths of a set up to moments that come in order.
class LengthUntil {
 public:
  explicit LengthUntil(IntervalSet set) : set_(std::move(set)) {}
  Nanoseconds at(Nanoseconds moment) {
    while (next_ < set_.size() && set_[next_].end <= moment) passed_ += set_[next_++].length();
    if (next_ == set_.size()) return passed_;
    return passed_ + Interval{set_[next_].start, moment}.length();
  }

 private:
  IntervalSet set_;
  std::size_t next_ = 0;
  Nanoseconds passed_ = 0;
};

}  // namespace

std::vector<OwnWorkTimes> own_work_until(const GpuRows& rows, const IdleTime& idle, Interval window,
                                         const std::vector<Nanoseconds>& moments) {
  std::array<IntervalSet, kOwnWorks> sets;
  sets[static_cast<std::size_t>(OwnWork::kernels)] = clipped(rows.compute, window);
  sets[static_cast<std::size_t>(OwnWork::copies)] =
      clipped(difference(rows.copies, rows.compute), window);
  for (const IdlePiece& piece : idle.pieces)
    sets[static_cast<std::size_t>(work_of(piece.kind))].push_back(piece.time);
  std::vector<LengthUntil> lengths;
  for (IntervalSet& set : sets) lengths.emplace_back(std::move(set));
  std::vector<OwnWorkTimes> times;
  for (const Nanoseconds moment : moments) {
    OwnWorkTimes& until = times.emplace_back();
    for (std::size_t i = 0; i < kOwnWorks; ++i) until[i] = lengths[i].at(moment);
  }
  return times;
}

}  // namespace stepsim
