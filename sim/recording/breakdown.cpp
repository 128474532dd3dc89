// Gives each moment of a window to one cause.
#include "sim/recording/breakdown.hpp"

#include <algorithm>
#include <string_view>

namespace stepsim {
namespace {

Cause cause_of_kernel(StepPhase phase, KernelKind kind) {
  if (kind == KernelKind::optimizer) return Cause::optimizer;  // also where nothing marks the step
  switch (phase) {
    case StepPhase::recompute:
      return Cause::recompute;
    case StepPhase::backward:
      return Cause::backward;
    case StepPhase::optimizer:
      return Cause::optimizer;
    case StepPhase::not_known:
    case StepPhase::forward:
      return Cause::forward;
  }
  return Cause::forward;
}

Cause cause_of_copy(std::string_view name, Cause otherwise) {
  if (copies_to_gpu(name)) return Cause::h2d;
  return copies_from_gpu(name) ? Cause::cpu_work : otherwise;
}

/// Hands moments out, each once, to activities in order of their start.
class Moments {
 public:
  explicit Moments(Interval window) : window_(window), taken_until_(window.start) {}
  /// The part of that time within the window that no earlier activity has.
  Interval take(Interval time) {
    const Interval free{std::max(time.start, taken_until_), std::min(time.end, window_.end)};
    taken_until_ = std::max(taken_until_, free.end);
    return free;
  }

 private:
  Interval window_;
  Nanoseconds taken_until_;
};

class BreakdownMaker {
 public:
  BreakdownMaker(const Recording& recording, const KindByName& kinds, Interval window)
      : recording_(recording), kinds_(kinds), window_(window), phases_(phases_of(recording)) {}

  void kernels() {
    Moments moments(window_);
    for (std::size_t i = 0; i < recording_.activities.size(); ++i) {
      const GpuActivity& activity = recording_.activities[i];
      if (activity.work == GpuWork::kernel && !communicates(activity, kinds_))
        result_.of(cause_at(i)) += moments.take(activity.time).length();
    }
  }

  void copies(const GpuRows& rows) {
    Moments moments(window_);
    const IntervalSet others = [&] {
      IntervalSet both = rows.compute;
      both.insert(both.end(), rows.communication.begin(), rows.communication.end());
      return united(std::move(both));
    }();
    for (std::size_t i = 0; i < recording_.activities.size(); ++i) {
      const GpuActivity& activity = recording_.activities[i];
      if (activity.work == GpuWork::kernel) continue;
      const Interval own = moments.take(activity.time);
      result_.of(cause_of_copy(recording_.name_of(activity), cause_at(i))) +=
          own.length() - length_within(others, own);
    }
  }

  void communication(const RankCommunication& of) {
    for (const CommunicationCall& call : of.calls)
      result_.of(exposed(of.kinds[call.kind].axis)) += length(call.exposed);
  }

  void idle(const IdleTime& idle) {
    const HostPauses pauses = pauses_of(recording_);
    for (const IdlePiece& piece : idle.pieces) {
      if (piece.is_doubtful) {
        result_.not_known += piece.time.length();
      } else if (piece.kind == IdleKind::late_python || piece.kind == IdleKind::late_operation) {
        late_host(piece, pauses);
      } else {
        result_.of(cause_of_idle(piece.kind)) += piece.time.length();
      }
    }
  }

  Breakdown result() const { return result_; }

 private:
  Cause cause_at(std::size_t activity) const {
    return cause_of_kernel(phases_[activity], kinds_[recording_.activities[activity].name]);
  }

  static Cause cause_of_idle(IdleKind kind) {
    if (kind == IdleKind::late_loader) return Cause::batch_wait;
    if (kind == IdleKind::late_sync) return Cause::cpu_work;
    return Cause::launch_gap;
  }

  void late_host(const IdlePiece& piece, const HostPauses& pauses) {
    const Interval time = piece.time;
    const Nanoseconds collecting = length_within(pauses.garbage_collection, time);
    const Nanoseconds compiling =
        length_within(difference(pauses.recompilation, pauses.garbage_collection), time);
    result_.of(Cause::garbage_collection) += collecting;
    result_.of(Cause::recompilation) += compiling;
    result_.of(Cause::launch_gap) += time.length() - collecting - compiling;
    if (piece.kind == IdleKind::late_operation)
      result_.pauses_in_operations += collecting + compiling;
  }

  const Recording& recording_;
  const KindByName& kinds_;
  Interval window_;
  std::vector<StepPhase> phases_;
  Breakdown result_;
};

}  // namespace

HostPauses pauses_of(const Recording& recording) {
  std::vector<bool> collects, compiles;
  for (const std::string& name : recording.names) {
    // Functions of Python that Kineto names; dynamo's timers mark what torch.compile does.
    collects.push_back(name.starts_with("<built-in function collect>") ||
                       name.starts_with("<built-in method collect of module") ||
                       name.find("garbage collection") != name.npos);
    compiles.push_back(name.find("(dynamo_timed)") != name.npos ||
                       name.find("torch/_dynamo/convert_frame.py") != name.npos);
  }
  std::vector<Interval> collecting, compiling;
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (event.work == HostWork::runtime) continue;
      if (collects[event.name]) collecting.push_back(event.time);
      if (compiles[event.name]) compiling.push_back(event.time);
    }
  }
  return {united(std::move(collecting)), united(std::move(compiling))};
}

Breakdown breakdown_of(const Recording& recording, const KindByName& kinds, const GpuRows& rows,
                       const IdleTime& idle, const RankCommunication& communication,
                       Interval window) {
  if (window.length() == 0) return {};
  BreakdownMaker maker(recording, kinds, window);
  maker.kernels();
  maker.communication(communication);
  maker.copies(rows);
  maker.idle(idle);
  return maker.result();
}

}  // namespace stepsim
