// Makes activities of operators, and idle time of what is between them.
#include "sim/recording/core_device.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "sim/recording/breakdown.hpp"
#include "sim/recording/marks.hpp"
#include "sim/recording/steps.hpp"

namespace stepsim {
namespace {

/// Reads of values that wait for nothing took up to 240 us on a busy machine and 3 us on an idle
/// one (PyTorch 1.13); a sum that waits takes milliseconds.
constexpr Nanoseconds kShortestWait = 100'000;
constexpr std::size_t kListed = 5;

bool hands_over(std::string_view name) {
  return name.starts_with("c10d::") || name == "record_param_comms";
}

bool is_collective(std::string_view name) { return name.starts_with("gloo:"); }

/// The thread that marks the steps.
std::uint32_t core_of(const Recording& recording) {
  for (std::uint32_t thread = 0; thread < recording.threads.size(); ++thread) {
    for (const HostEvent& event : recording.threads[thread].events) {
      if (event.work == HostWork::annotation && marks_step(recording.name_of(event))) return thread;
    }
  }
  return 0;
}

/// Time of the core's thread that is no work of operators.
struct Claims {
  IntervalSet loader, sync, garbage, handing_over;

  IntervalSet all() const {
    std::vector<Interval> united_claims;
    for (const IntervalSet* set : {&loader, &sync, &garbage, &handing_over})
      united_claims.insert(united_claims.end(), set->begin(), set->end());
    return united(std::move(united_claims));
  }
};

Claims claims_of(const Recording& recording, std::uint32_t core) {
  std::vector<Interval> loader, sync, handing_over;
  for (const HostEvent& event : recording.threads[core].events) {
    const std::string& name = recording.name_of(event);
    if (marks_loader(name)) loader.push_back(event.time);
    if (event.work != HostWork::operation) continue;
    if (hands_over(name)) handing_over.push_back(event.time);
    if ((name == "aten::item" || name == "aten::_local_scalar_dense") &&
        event.time.length() >= kShortestWait)
      sync.push_back(event.time);
  }
  return {united(std::move(loader)), united(std::move(sync)),
          pauses_of(recording).garbage_collection, united(std::move(handing_over))};
}

/// Pieces of the operators' own time, in order of time.
class OwnTime {
 public:
  OwnTime(const Recording& recording, std::uint32_t core) : recording_(recording), core_(core) {}

  std::vector<GpuActivity> pieces() {
    const auto& events = recording_.threads[core_].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (events[i].work != HostWork::operation) continue;
      close_until(events[i].time.start);
      take_until(events[i].time.start);
      open_.push_back(i);
      at_ = std::max(at_, events[i].time.start);
    }
    close_until(kForever);
    return std::move(pieces_);
  }

 private:
  static constexpr Nanoseconds kForever = INT64_MAX;

  void close_until(Nanoseconds moment) {
    while (!open_.empty() && event(open_.back()).time.end <= moment) {
      take_until(event(open_.back()).time.end);
      open_.pop_back();
    }
  }

  /// The time until then is the innermost operator's.
  void take_until(Nanoseconds moment) {
    if (!open_.empty() && moment > at_) {
      GpuActivity piece;
      piece.time = {at_, moment};
      piece.launch = HostEventPlace{core_, open_.back()};
      piece.name = event(open_.back()).name;
      pieces_.push_back(piece);
    }
    at_ = std::max(at_, moment);
  }

  const HostEvent& event(std::uint32_t index) const {
    return recording_.threads[core_].events[index];
  }

  const Recording& recording_;
  std::uint32_t core_;
  std::vector<std::uint32_t> open_;
  Nanoseconds at_ = INT64_MIN;
  std::vector<GpuActivity> pieces_;
};

/// The rest of each piece, in order of time.
std::vector<GpuActivity> without(const std::vector<GpuActivity>& pieces,
                                 const IntervalSet& claimed) {
  std::vector<GpuActivity> rest;
  for (const GpuActivity& piece : pieces) {
    for (const Interval& time : difference({piece.time}, clipped(claimed, piece.time))) {
      rest.push_back(piece);
      rest.back().time = time;
    }
  }
  return rest;
}

/// The collectives of gloo; each was handed over by the operator of its number, where they are as
/// many.
std::vector<GpuActivity> collectives_in(const Recording& recording, std::uint32_t core) {
  std::vector<GpuActivity> collectives;
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (event.work != HostWork::annotation || !is_collective(recording.name_of(event))) continue;
      GpuActivity collective;
      collective.time = event.time;
      collective.name = event.name;
      collective.stream = 1;
      collectives.push_back(collective);
    }
  }
  std::ranges::stable_sort(collectives, {},
                           [](const GpuActivity& activity) { return activity.time.start; });
  std::vector<HostEventPlace> calls;
  const auto& events = recording.threads[core].events;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (recording.name_of(events[i]).starts_with("c10d::")) calls.push_back({core, i});
  }
  for (std::size_t i = 0; calls.size() == collectives.size() && i < calls.size(); ++i)
    collectives[i].launch = calls[i];
  return collectives;
}

}  // namespace

bool is_of_core(const Recording& recording) {
  if (!recording.activities.empty() || !recording.device.empty() || steps_of(recording).empty())
    return false;
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      // A GPU's, whose kernels are missing.
      if (event.work == HostWork::runtime || recording.name_of(event).starts_with("nccl:"))
        return false;
    }
  }
  const auto& events = recording.threads[core_of(recording)].events;
  return std::ranges::any_of(
      events, [](const HostEvent& event) { return event.work == HostWork::operation; });
}

Recording with_core_as_device(Recording recording) {
  const std::uint32_t core = core_of(recording);
  recording.is_of_core = true;
  if (recording.device.empty()) recording.device = "a core of a CPU";
  recording.activities =
      without(OwnTime(recording, core).pieces(), claims_of(recording, core).all());
  for (GpuActivity& collective : collectives_in(recording, core))
    recording.activities.push_back(collective);
  std::ranges::stable_sort(recording.activities, {},
                           [](const GpuActivity& activity) { return activity.time.start; });
  return recording;
}

IntervalSet reads_of_core(const Recording& recording) {
  return claims_of(recording, core_of(recording)).sync;
}

IdleTime idle_time_of_core(const Recording& recording, const IntervalSet& busy, Interval window) {
  const std::uint32_t core = core_of(recording);
  const Claims claims = claims_of(recording, core);
  IdleTime idle;
  IntervalSet left = difference({window}, clipped(busy, window));
  const auto take = [&](const IntervalSet& set, IdleKind kind) {
    const IntervalSet taken = intersection(left, set);
    left = difference(left, taken);
    for (const Interval& time : taken) idle.pieces.push_back({time, kind, core, false});
    return length(taken);
  };
  idle.late_host.sync = take(claims.sync, IdleKind::late_sync);
  const Nanoseconds collecting = take(claims.garbage, IdleKind::late_python);
  idle.late_host.loader = take(claims.loader, IdleKind::late_loader);
  idle.late_host.runtime = take(claims.handing_over, IdleKind::late_runtime);
  idle.late_host.python = collecting + take({window}, IdleKind::late_python);
  std::ranges::stable_sort(idle.pieces, {},
                           [](const IdlePiece& piece) { return piece.time.start; });
  idle.causes.late_host = length(difference({window}, clipped(busy, window)));
  return idle;
}

}  // namespace stepsim
