// Tells gaps of a GPU apart: by the launch of what follows, and by its thread.
#include "sim/recording/idle_time.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/recording/marks.hpp"

namespace stepsim {
namespace {

/// Kernels of one stream follow each other within this.
constexpr Nanoseconds kTiny = 2000;
constexpr std::size_t kListed = 5;
/// Kernels wait for their stream while something runs. Replays of graphs with kernels missing look
/// like longer waits (AMD-AGI/TraceLens issue 728: 26 % idle for 1 %).
constexpr Nanoseconds kLongestWait = 1'000'000;

/// When a thread does what. The sets do not overlap: of several states the first one counts.
struct ThreadStates {
  IntervalSet sync, loader, runtime, operation;
};

ThreadStates states_of(const Recording& recording, const RecordedThread& thread) {
  std::vector<Interval> sync, loader, runtime, operation;
  for (const HostEvent& event : thread.events) {
    const std::string& name = recording.name_of(event);
    if (event.work == HostWork::runtime) {
      (synchronises(name) ? sync : runtime).push_back(event.time);
    } else if (event.work == HostWork::operation) {
      operation.push_back(event.time);
    } else if (marks_loader(name)) {
      loader.push_back(event.time);
    }
  }
  ThreadStates states;
  states.sync = united(std::move(sync));
  IntervalSet taken = states.sync;
  const auto rest_of = [&](std::vector<Interval> intervals) {
    const IntervalSet all = united(std::move(intervals));
    IntervalSet rest = difference(all, taken);
    taken.insert(taken.end(), rest.begin(), rest.end());
    taken = united(std::move(taken));
    return rest;
  };
  states.loader = rest_of(std::move(loader));
  states.runtime = rest_of(std::move(runtime));
  states.operation = rest_of(std::move(operation));
  return states;
}

/// From the first start to the last end of each replay of a graph.
IntervalSet replays_of(const Recording& recording) {
  std::map<std::uint64_t, Interval> replays;
  for (const GpuActivity& activity : recording.activities) {
    if (!activity.launch) continue;
    const HostEvent& call = recording.at(*activity.launch);
    if (!replays_graph(recording.name_of(call))) continue;
    Interval& replay = replays.try_emplace(activity.correlation, activity.time).first->second;
    replay.end = std::max(replay.end, activity.time.end);
  }
  std::vector<Interval> all;
  for (const auto& [correlation, replay] : replays) all.push_back(replay);
  return united(std::move(all));
}

class GapReader {
 public:
  GapReader(const Recording& recording, Interval window)
      : recording_(recording), window_(window), replays_(replays_of(recording)) {}

  IdleTime read(const IntervalSet& gaps) {
    for (const Interval& gap : gaps) add(gap);
    std::ranges::stable_sort(idle_.pieces, {},
                             [](const IdlePiece& piece) { return piece.time.start; });
    std::ranges::stable_sort(idle_.longest, std::ranges::greater{},
                             [](const LateGap& late) { return late.gap.length(); });
    if (idle_.longest.size() > kListed) idle_.longest.resize(kListed);
    return std::move(idle_);
  }

 private:
  void add(const Interval& gap) {
    IdleCauses& causes = idle_.causes;
    if (gap.length() < kTiny) {
      causes.tiny += gap.length();
      piece(gap, IdleKind::tiny, in_replays(gap) > 0);
      return;
    }
    const auto next = activity_at(gap.end);
    if (gap.end >= window_.end || !next) {
      causes.tail += gap.length();
      piece(gap, IdleKind::tail);
      return;
    }
    const auto& launch = recording_.activities[*next].launch;
    if (!launch) {
      causes.unmatched += gap.length();
      in_replays(gap);
      piece(gap, IdleKind::unmatched, true);
    } else if (recording_.at(*launch).time.start <= gap.start) {
      causes.queued += gap.length();
      const Nanoseconds doubtful = doubt(gap);
      idle_.doubts.of_queued += doubtful;
      piece(gap, IdleKind::queued, doubtful > 0);
    } else {
      add_late(gap, *next, *launch);
    }
  }

  Nanoseconds in_replays(const Interval& gap) {
    const Nanoseconds within = length_within(replays_, gap);
    idle_.doubts.graph_replays += within;
    return within;
  }

  /// How much of the time in which launched work waits may not have been idle.
  Nanoseconds doubt(const Interval& wait) {
    const Nanoseconds within = in_replays(wait);
    if (wait.length() <= kLongestWait) return within;
    idle_.doubts.long_waits += wait.length() - within;
    return wait.length();
  }

  void add_late(const Interval& gap, std::size_t next, HostEventPlace launch) {
    const Interval late{gap.start, std::min(recording_.at(launch).time.start, gap.end)};
    idle_.causes.late_host += late.length();
    idle_.causes.launch_latency += gap.end - late.end;
    const Nanoseconds doubtful = doubt({late.end, gap.end});
    idle_.doubts.of_launch_latency += doubtful;
    piece({late.end, gap.end}, IdleKind::launch_latency, doubtful > 0);
    idle_.longest.push_back({gap, late.length(), next});
    const ThreadStates& states = states_of_thread(launch.thread);
    IntervalSet rest{late};
    const auto take = [&](const IntervalSet& set, IdleKind kind) {
      const IntervalSet taken = clipped(set, late);
      rest = difference(rest, taken);
      return late_pieces(taken, kind, launch.thread);
    };
    HostStates& host = idle_.late_host;
    host.sync += take(states.sync, IdleKind::late_sync);
    host.loader += take(states.loader, IdleKind::late_loader);
    host.runtime += take(states.runtime, IdleKind::late_runtime);
    host.operation += take(states.operation, IdleKind::late_operation);
    host.python += late_pieces(rest, IdleKind::late_python, launch.thread);
  }

  void piece(const Interval& time, IdleKind kind, bool is_doubtful = false) {
    if (time.length() > 0) idle_.pieces.push_back({time, kind, 0, is_doubtful});
  }

  /// Notes them, and returns their length.
  Nanoseconds late_pieces(const IntervalSet& set, IdleKind kind, std::uint32_t thread) {
    for (const Interval& time : set) idle_.pieces.push_back({time, kind, thread, false});
    return length(set);
  }

  /// The first activity that starts at that moment.
  std::optional<std::size_t> activity_at(Nanoseconds start) const {
    const auto& all = recording_.activities;
    const auto found = std::ranges::lower_bound(
        all, start, {}, [](const GpuActivity& activity) { return activity.time.start; });
    if (found == all.end() || found->time.start != start) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
  }

  const ThreadStates& states_of_thread(std::uint32_t thread) {
    const auto found = states_.find(thread);
    if (found != states_.end()) return found->second;
    return states_.emplace(thread, states_of(recording_, recording_.threads[thread])).first->second;
  }

  const Recording& recording_;
  Interval window_;
  IntervalSet replays_;
  std::map<std::uint32_t, ThreadStates> states_;
  IdleTime idle_;
};

}  // namespace

bool synchronises(std::string_view call) { return call.find("Synchronize") != call.npos; }

bool replays_graph(std::string_view call) { return call.find("GraphLaunch") != call.npos; }

IdleTime idle_time(const Recording& recording, const IntervalSet& busy, Interval window) {
  if (window.length() == 0) return {};
  return GapReader(recording, window).read(difference({window}, clipped(busy, window)));
}

}  // namespace stepsim
