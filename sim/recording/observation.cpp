// Puts together what follows from a recording.
#include "sim/recording/observation.hpp"

#include <algorithm>
#include <map>

#include "sim/recording/convolution_kernels.hpp"
#include "sim/recording/core_device.hpp"
#include "sim/recording/not_known.hpp"
#include "sim/recording/steps.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kKernels = 10;

bool is_within(const GpuActivity& activity, Interval window) {
  return activity.time.end > window.start && activity.time.start < window.end;
}

/// The activity's time within the window.
double seconds_within(const GpuActivity& activity, Interval window) {
  return seconds_of(
      Interval{std::max(activity.time.start, window.start), std::min(activity.time.end, window.end)}
          .length());
}

std::vector<KernelTime> longest_first(std::vector<KernelTime> times, std::size_t most) {
  std::ranges::stable_sort(times, std::ranges::greater{}, &KernelTime::seconds);
  if (times.size() > most) times.resize(most);
  return times;
}

void add_copy(Observation& seen, const Recording& recording, const GpuActivity& activity) {
  const std::string& name = recording.name_of(activity);
  auto copy = std::ranges::find(seen.copies, name, &CopyTime::name);
  if (copy == seen.copies.end()) copy = seen.copies.insert(copy, CopyTime{.name = name});
  ++copy->calls;
  copy->seconds += seconds_within(activity, seen.window);
  copy->bytes += activity.bytes;
}

void add_kernels(Observation& seen, const Recording& recording, const KindByName& kinds) {
  std::map<std::uint32_t, KernelTime> by_name;
  std::map<KernelKind, KernelTime> by_kind;
  const std::vector<bool> is_convolution = products_of_convolutions(recording, kinds);
  for (std::size_t i = 0; i < recording.activities.size(); ++i) {
    const GpuActivity& activity = recording.activities[i];
    if (!is_within(activity, seen.window)) continue;
    ++seen.activities;
    if (activity.work != GpuWork::kernel) {
      add_copy(seen, recording, activity);
      continue;
    }
    const KernelKind kind = is_convolution[i] ? KernelKind::convolution : kinds[activity.name];
    seen.compute_kernels += kind == KernelKind::communication ? 0 : 1;
    for (KernelTime* time : {&by_name[activity.name], &by_kind[kind]}) {
      time->kind = kind;
      ++time->calls;
      time->seconds += seconds_within(activity, seen.window);
    }
  }
  std::vector<KernelTime> names, all_kinds;
  for (auto& [name, time] : by_name) {
    time.name = recording.names[name];
    names.push_back(time);
  }
  for (auto& [kind, time] : by_kind) {
    time.name = name_of(kind);
    all_kinds.push_back(time);
  }
  std::ranges::stable_sort(seen.copies, std::ranges::greater{}, &CopyTime::seconds);
  seen.kernels = longest_first(std::move(names), kKernels);
  seen.kinds = longest_first(std::move(all_kinds), kNames<KernelKind>.size());
}

void add_steps(Observation& seen, const Recording& recording, const GpuRows& rows,
               const std::vector<RecordedStep>& steps) {
  const std::vector<Nanoseconds> busy = busy_by_launch(recording, steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    seen.steps.push_back(
        {steps[i].name, steps[i].window, gpu_time(rows, steps[i].window), busy[i]});
}

void add_gaps(Observation& seen, const Recording& recording) {
  for (const LateGap& late : seen.idle.longest) {
    seen.late_gaps.push_back({seconds_of(late.gap.start - seen.window.start),
                              seconds_of(late.gap.length()), seconds_of(late.late),
                              recording.name_of(recording.activities[late.before])});
  }
}

void add_causes(Observation& seen, const Recording& recording, const GpuRows& rows,
                const KindByName& kinds, const std::vector<RecordedStep>& steps) {
  seen.communication = communication_of(recording, kinds, rows, steps, seen.window);
  seen.breakdown = breakdown_of(recording, kinds, rows, seen.idle, seen.communication, seen.window);
  seen.late_sites = late_sites(recording, seen.idle);
  seen.own_work = own_work_of(rows, seen.idle, seen.window);
}

}  // namespace

Observation observe(const Recording& recording, const KernelKinds& kinds, const GpuProfile* gpu) {
  const KindByName by_name = kinds_of_names(recording, kinds);
  const GpuRows rows = gpu_rows(recording, by_name);
  const std::vector<RecordedStep> steps = steps_of(recording);
  Observation seen;
  seen.file = recording.file;
  seen.format = recording.format;
  seen.device = recording.device;
  seen.is_of_core = recording.is_of_core;
  seen.is_cut = recording.notes.is_cut;
  seen.backend = recording.backend;
  seen.rank = recording.rank;
  seen.world_size = recording.world_size;
  seen.memory = recording.memory;
  seen.window = window_of(recording, steps);
  seen.gpu = gpu_time(rows, seen.window);
  seen.idle = recording.is_of_core ? idle_time_of_core(recording, rows.busy, seen.window)
                                   : idle_time(recording, rows.busy, seen.window);
  add_steps(seen, recording, rows, steps);
  add_kernels(seen, recording, by_name);
  seen.products = products_of(recording, by_name, seen.window, gpu);
  add_gaps(seen, recording);
  add_causes(seen, recording, rows, by_name, steps);
  if (recording.is_of_core) {
    seen.typical = typical_step(recording, by_name, steps, seen.idle);
  } else {
    seen.launch_pace = launch_pace_of(recording, seen.window);
  }
  seen.not_known = not_known(recording, seen);
  return seen;
}

}  // namespace stepsim
