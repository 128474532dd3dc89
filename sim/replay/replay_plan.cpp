// Writes the plan of a recording.
#include "sim/replay/replay_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/plan/program/program_writer.hpp"
#include "sim/recording/gpu_time.hpp"
#include "sim/recording/products/products.hpp"
#include "sim/replay/core_waits.hpp"
#include "sim/replay/host_stops.hpp"
#include "sim/replay/work_starts.hpp"

namespace stepsim {
namespace {

/// A change is simulated in 0.1 s.
constexpr std::size_t kMostWorks = 100'000;
/// A task waits for at most 255 others, such as the last work of each stream.
constexpr std::size_t kMostStreams = 200;

double seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

/// A machine that the plan needs and does not use: recorded times are of the real one.
const Cluster& no_cluster() {
  static const Cluster cluster;
  return cluster;
}

/// The thread that marks the steps, else the one that launches most.
std::uint32_t main_thread(const Recording& recording, const RecordedStep& step,
                          const GpuQueues& queues) {
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    for (const HostEvent& event : recording.threads[t].events) {
      if (event.work == HostWork::annotation && event.time == step.window) return t;
    }
  }
  std::map<std::uint32_t, std::size_t> launches{{0, 0}};
  for (const GpuQueue& queue : queues) {
    for (const QueuedWork& work : queue) {
      if (work.call) ++launches[work.call->thread];
    }
  }
  return std::ranges::max_element(launches, {}, [](const auto& one) { return one.second; })->first;
}

/// Where steps begin and end, without the beginning of the first; empty where steps overlap.
std::vector<Nanoseconds> marks_of(const std::vector<RecordedStep>& steps, Interval window) {
  std::vector<Nanoseconds> marks;
  for (const RecordedStep& step : steps) {
    for (const Nanoseconds mark : {step.window.start, step.window.end})
      marks.push_back(mark - window.start);
  }
  if (!std::ranges::is_sorted(marks)) return {};
  marks.erase(marks.begin());
  return marks;
}

/// What waits and lines are of all threads that launch, the one that marks the steps first.
class HostReader {
 public:
  HostReader(const Recording& recording, Interval window, GpuQueues& queues)
      : recording_(recording), window_(window), queues_(queues) {}

  std::vector<HostLine> read(std::uint32_t main, const std::vector<Nanoseconds>& marks) {
    std::set<std::uint32_t> launching;
    for (const GpuQueue& queue : queues_) {
      for (const QueuedWork& work : queue) {
        if (work.call && work.call->thread != main) launching.insert(work.call->thread);
      }
    }
    std::vector<std::uint32_t> threads{main};
    threads.insert(threads.end(), launching.begin(), launching.end());
    handovers_ = handovers(recording_, threads, window_);
    std::vector<HostLine> lines;
    for (const std::uint32_t thread : threads)
      lines.push_back(line(thread, thread == main ? marks : std::vector<Nanoseconds>{}));
    return lines;
  }

 private:
  HostLine line(std::uint32_t thread, const std::vector<Nanoseconds>& marks) {
    std::vector<GpuWait> waits = recording_.is_of_core
                                     ? core_waits(recording_, queues_, window_, thread)
                                     : gpu_waits(recording_, queues_, window_, thread);
    std::map<std::uint32_t, Nanoseconds> rooms;
    for (const GpuWait& wait : waits) {
      if (wait.is_for_room) rooms.emplace(wait.call.event, wait.time.end);
    }
    std::vector<Nanoseconds> launches;
    for (GpuQueue& queue : queues_) {
      for (QueuedWork& work : queue) {
        if (!work.call || work.call->thread != thread) continue;
        const auto room = rooms.find(work.call->event);
        if (room != rooms.end()) work.launched = std::min(room->second, work.start);
        launches.push_back(*work.launched);
      }
    }
    std::ranges::sort(launches);
    return host_line(recording_, window_,
                     {thread, std::move(waits), handovers_, marks, std::move(launches)});
  }

  const Recording& recording_;
  Interval window_;
  GpuQueues& queues_;
  std::vector<Handover> handovers_;
};

/// Where an item stands in the plan's order, in which all edges lead forward.
struct Item {
  Nanoseconds at = 0;
  int phase = 0;  ///< at one moment: marks, waits, works
  bool is_work = false;
  std::uint32_t line = 0, index = 0;  ///< thread and stop, or stream and work
};

class ReplayWriter {
 public:
  ReplayWriter(const Recording& recording, const KindByName& kinds, const GpuProfile* gpu,
               const GpuQueues& queues, const std::vector<HostLine>& lines,
               const std::vector<std::vector<WorkStart>>& starts)
      : recording_(recording),
        kinds_(kinds),
        attainable_(attainable_shares(recording, kinds, gpu)),
        queues_(queues),
        lines_(lines),
        starts_(starts) {}

  ReplayPlan write(std::vector<RecordedStep> steps, Interval window) {
    add_rows();
    for (const Item& item : items()) {
      if (item.is_work) {
        add_work({item.line, item.index});
      } else {
        add_stop(item.line, lines_[item.line].stops[item.index]);
      }
    }
    result_.steps = std::move(steps);
    result_.is_of_core = recording_.is_of_core;
    result_.not_explained = length_within(united(std::move(lags_)), {0, window.length()});
    for (const RecordedStep& step : result_.steps) mark_gpu(step.window.end - window.start);
    finish();
    return std::move(result_);
  }

 private:
  struct Line {
    std::uint16_t row = 0;
    std::uint32_t first_epoch = 0, epochs = 0;  // begun, but for the one at time 0
    std::vector<Nanoseconds> begun{0};
    TaskIndex last = ProgramWriter::kNoTask;  // the wait that began the last epoch
    std::vector<TaskIndex> waits;             // by epoch, but for the first
    double reached(Nanoseconds moment) const { return seconds(moment - begun.back()); }
  };

  void add_rows() {
    std::uint32_t epochs = 0;
    for (const HostLine& line : lines_) {
      threads_.push_back(
          {.row = writer_.add_row(recording_.threads[line.thread].thread, RowKind::host),
           .first_epoch = epochs});
      epochs += 2 * static_cast<std::uint32_t>(line.stops.size()) + 1;
    }
    writer_.program().epochs = epochs;
    for (std::size_t s = 0; s < queues_.size(); ++s) {
      const std::int32_t stream = recording_.activities[queues_[s].front().activity].stream;
      streams_.push_back(
          {.row = writer_.add_row(fmt::format("stream {}", stream), RowKind::compute)});
      streams_.back().tasks.reserve(queues_[s].size());
    }
    result_.gpu_marks = writer_.add_row("steps", RowKind::compute);
  }

  std::vector<Item> items() const {
    std::vector<Item> items;
    for (std::uint32_t t = 0; t < lines_.size(); ++t) {
      for (std::uint32_t i = 0; i < lines_[t].stops.size(); ++i) {
        const HostStop& stop = lines_[t].stops[i];
        const bool is_mark = stop.kind == StopKind::step_mark || stop.kind == StopKind::hands_over;
        items.push_back({stop.time.end, is_mark ? 0 : 1, false, t, i});
      }
    }
    for (std::uint32_t s = 0; s < starts_.size(); ++s) {
      for (std::uint32_t i = 0; i < starts_[s].size(); ++i)
        items.push_back({starts_[s][i].begin, 2, true, s, i});
    }
    std::ranges::stable_sort(items, [](const Item& a, const Item& b) {
      return std::tie(a.at, a.phase) < std::tie(b.at, b.phase);
    });
    return items;
  }

  // --- the host

  void add_stop(std::uint32_t thread, const HostStop& stop) {
    switch (stop.kind) {
      case StopKind::step_mark:
        writer_.mark_step_end(wait(thread, stop, {}));
        return;
      case StopKind::hands_over:
        given_[stop.number] = wait(thread, stop, {});
        return;
      case StopKind::taken_over:
        wait(thread, stop, given(stop.number));
        return;
      case StopKind::gpu:
        note(wait(thread, stop, tasks_of(stop.works)), stop.caller);
        return;
      case StopKind::room:
        wait(thread, stop, tasks_of(stop.works));
        return;
      case StopKind::pause:
        return take_time(thread, stop, stop.cause, name_of(stop.cause));
      case StopKind::not_explained:
        lags_.push_back(stop.time);
        return take_time(thread, stop, Cause::sync_wait, "not explained");
    }
  }

  std::vector<TaskIndex> given(std::uint32_t handover) const {
    const auto task = given_.find(handover);
    return task == given_.end() ? std::vector<TaskIndex>{} : std::vector{task->second};
  }

  /// The thread comes to a wait at the stop's start, and goes on at its end.
  TaskIndex wait(std::uint32_t thread, const HostStop& stop, const std::vector<TaskIndex>& after) {
    Line& line = threads_[thread];
    const TaskIndex task = writer_.add({.launch_offset = line.reached(stop.time.start),
                                        .name = name("wait"),
                                        .epoch = line.first_epoch + line.epochs,
                                        .row = line.row,
                                        .kind = TaskKind::host_wait,
                                        .cause = Cause::launch_gap,
                                        .wait_cause = Cause::launch_gap},
                                       after);
    ++line.epochs;
    line.begun.push_back(stop.time.end);
    line.waits.push_back(task);
    return task;
  }

  void take_time(std::uint32_t thread, const HostStop& stop, Cause cause, const char* what) {
    wait(thread, {.time = {stop.time.start, stop.time.start}}, {});
    const TaskIndex task = writer_.add({.amount = seconds(stop.time.length()),
                                        .name = name(what),
                                        .row = threads_[thread].row,
                                        .kind = TaskKind::timer,
                                        .cause = cause});
    wait(thread, {.time = {stop.time.start, stop.time.end}}, {task});
  }

  void note(TaskIndex task, const std::string& caller) {
    const auto [entry, is_new] =
        callers_.emplace(caller, static_cast<std::uint32_t>(result_.callers.size()));
    if (is_new) result_.callers.push_back(caller);
    result_.waits.push_back({task, entry->second});
  }

  // --- the GPU

  struct StreamRow {
    std::uint16_t row = 0;
    std::vector<TaskIndex> tasks;         // by place in the queue
    std::uint32_t thread = 0, epoch = 0;  // of the last launch
  };

  std::vector<TaskIndex> tasks_of(const std::vector<QueuePlace>& works) const {
    std::vector<TaskIndex> tasks;
    for (const QueuePlace work : works) {
      const std::vector<TaskIndex>& written = streams_[work.stream].tasks;
      if (work.index < written.size()) tasks.push_back(written[work.index]);
    }
    return tasks;
  }

  void add_work(QueuePlace place) {
    const QueuedWork& work = queues_[place.stream][place.index];
    const WorkStart& start = starts_[place.stream][place.index];
    StreamRow& stream = streams_[place.stream];
    std::vector<TaskIndex> after = tasks_of(start.after);
    Task task = task_of(work, start, stream.row);
    if (work.launched) launch(task, work, *start.launched, stream, after);
    if (start.not_explained > 0) {
      Task lag = task;
      lag.amount = seconds(start.not_explained);
      lag.name = name("not explained");
      lag.cause = Cause::sync_wait;
      writer_.add(lag, after);
      after.clear();
      task.epoch = kNotLaunched;
      task.launch_offset = 0;
      lags_.push_back({start.begin - start.not_explained, start.begin});
    }
    stream.tasks.push_back(writer_.add(task, after));
    const float share = attainable_[work.activity];
    if (share < 1) result_.slow_products.push_back({stream.tasks.back(), share});
  }

  Task task_of(const QueuedWork& work, const WorkStart& start, std::uint16_t row) {
    const GpuActivity& activity = recording_.activities[work.activity];
    Cause cause = Cause::forward;
    if (recording_.is_of_core || communicates(activity, kinds_)) {
      cause = exposed(Axis::data);
    } else if (activity.work == GpuWork::copy && copies_to_gpu(recording_.name_of(activity))) {
      cause = Cause::h2d;
    }
    return {.amount = seconds(work.end - start.begin),
            .name = name(recording_.name_of(activity)),
            .row = row,
            .kind = TaskKind::timer,
            .cause = cause};
  }

  /// The thread's epoch in which the work was launched, and when in it.
  void launch(Task& task, const QueuedWork& work, Nanoseconds launched, StreamRow& stream,
              std::vector<TaskIndex>& after) {
    const auto thread = static_cast<std::uint32_t>(
        std::ranges::find(lines_, work.call->thread, &HostLine::thread) - lines_.begin());
    const Line& line = threads_[thread];
    const auto epoch = static_cast<std::uint32_t>(
        std::ranges::upper_bound(line.begun, *work.launched) - line.begun.begin() - 1);
    task.epoch = line.first_epoch + epoch;
    task.launch_offset = seconds(launched - line.begun[epoch]);
    // The row's next launches of the epoch follow the first, which waits for it.
    if (epoch > 0 && (stream.thread != thread || stream.epoch != epoch))
      after.push_back(line.waits[epoch - 1]);
    stream.thread = thread;
    stream.epoch = epoch;
  }

  // --- the end

  /// The GPU has done what was launched in a step and before it.
  void mark_gpu(Nanoseconds step_end) {
    std::vector<TaskIndex> last;
    for (std::uint32_t s = 0; s < queues_.size(); ++s) {
      if (const auto given = last_given(queues_[s], step_end))
        last.push_back(streams_[s].tasks[*given]);
    }
    writer_.add({.name = name("launched before"),
                 .row = result_.gpu_marks,
                 .kind = TaskKind::timer,
                 .cause = Cause::forward},
                last);
  }

  void finish() {
    Plan& plan = result_.plan;
    plan.names = std::move(names_);
    plan.steps = static_cast<int>(writer_.program().step_ends.size());
    plan.programs.push_back(writer_.finish());
    plan.program_of = {0};
    std::array<int, kChannels> no_groups{};
    no_groups.fill(-1);
    plan.group_of = Plan::GroupOf{no_groups};
  }

  std::uint32_t name(const std::string& text) {
    const auto [entry, is_new] =
        name_index_.emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(text);
    return entry->second;
  }

  const Recording& recording_;
  const KindByName& kinds_;
  std::vector<float> attainable_;  // by activity
  const GpuQueues& queues_;
  const std::vector<HostLine>& lines_;
  const std::vector<std::vector<WorkStart>>& starts_;
  ProgramWriter writer_{0, Seconds{}};
  std::vector<Line> threads_;
  std::vector<StreamRow> streams_;
  std::map<std::uint32_t, TaskIndex> given_;  // by handover
  std::vector<Interval> lags_;
  std::map<std::string, std::uint32_t> callers_, name_index_;
  std::vector<std::string> names_;
  ReplayPlan result_{.plan = Plan(no_cluster())};
};

struct StepsToReplay {
  std::vector<RecordedStep> steps;
  std::size_t left_out = 0;  ///< behind them
};

/// Whole steps, with launches where there is a GPU: as many as have kMostWorks together, and at
/// least one.
StepsToReplay steps_to_replay(const Recording& recording) {
  StepsToReplay result{.steps = steps_of(recording)};
  std::vector<RecordedStep>& steps = result.steps;
  // On a core what operators take is time of its thread, so that they are no tasks of the plan.
  if (recording.is_of_core) return result;
  std::vector<Nanoseconds> launches;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.launch) launches.push_back(recording.at(*activity.launch).time.start);
  }
  std::ranges::sort(launches);
  const auto launched_before = [&](Nanoseconds moment) {
    return static_cast<std::size_t>(std::ranges::lower_bound(launches, moment) - launches.begin());
  };
  const auto launched = [&](Interval window) {
    return launched_before(window.end) - launched_before(window.start);
  };
  if (recording.activities.empty()) return result;
  while (!steps.empty() && launched(steps.back().window) == 0) steps.pop_back();
  while (steps.size() > 1 &&
         launched({steps.front().window.start, steps.back().window.end}) > kMostWorks) {
    steps.pop_back();
    ++result.left_out;
  }
  return result;
}

}  // namespace

std::optional<ReplayPlan> replay_plan(const Recording& recording, const KernelKinds& kinds,
                                      const GpuProfile* gpu) {
  const auto [steps, left_out] = steps_to_replay(recording);
  if (steps.empty()) return std::nullopt;
  const Interval window = window_of(recording, steps);
  const std::vector<Nanoseconds> marks = marks_of(steps, window);
  GpuQueues queues = queues_of(recording, window);
  if (marks.empty() || queues.size() > kMostStreams) return std::nullopt;
  const std::uint32_t main = main_thread(recording, steps.front(), queues);
  const std::vector<HostLine> lines = HostReader(recording, window, queues).read(main, marks);
  const auto starts = work_starts(recording, window, queues);
  const KindByName by_name = kinds_of_names(recording, kinds);
  ReplayPlan result =
      ReplayWriter(recording, by_name, gpu, queues, lines, starts).write(steps, window);
  result.steps_left_out = left_out;
  return result;
}

}  // namespace stepsim
