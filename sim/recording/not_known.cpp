// Says what a recording cannot answer: events that are missing, clocks and recorders.
#include "sim/recording/not_known.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/recording/median.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using Sentences = std::vector<std::string>;

std::string count(std::size_t number, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(number)), number == 1 ? one : many);
}

std::string time_text(double seconds) { return humanise(Seconds{seconds}).text(); }
std::string time_text(Nanoseconds time) { return time_text(seconds_of(time)); }

bool is_within(Nanoseconds moment, Interval window) {
  return moment >= window.start && moment < window.end;
}

void about_reading(const Recording& recording, Sentences& say) {
  const ReadingNotes& notes = recording.notes;
  if (notes.is_cut) say.push_back("The file is cut: what stands behind its end is missing.");
  if (notes.damaged > 0)
    say.push_back(
        fmt::format("{} could not be read: no JSON.", count(notes.damaged, "event", "events")));
  if (notes.untimed > 0)
    say.push_back(fmt::format("{} without a time: idle time is too large there.",
                              count(notes.untimed, "GPU activity is", "GPU activities are")));
  if (notes.untimed_of_host > 0)
    say.push_back(fmt::format(
        "{} left out, without a time or with one that cannot be: launches, operators or steps may "
        "be missing.",
        count(notes.untimed_of_host, "event of the host is", "events of the host are")));
  if (notes.clipped > 0)
    say.push_back(fmt::format(
        "{} far beyond the next activity of the stream: taken to end where that starts.",
        count(notes.clipped, "duration reaches", "durations reach")));
  if (notes.of_other_devices > 0)
    say.push_back(fmt::format("{} of other GPUs of this process: not looked at.",
                              count(notes.of_other_devices, "activity is", "activities are")));
  if (notes.processes > 1)
    say.push_back(fmt::format(
        "{} processes launched work: ids of launches repeat where files of ranks were merged, so "
        "that launches may be taken for each other's.",
        notes.processes));
  if (notes.is_rank_from_name)
    say.push_back("The rank is that of the file's name: the file does not say it.");
  say.insert(say.end(), notes.sentences.begin(), notes.sentences.end());
}

/// Launches of a step; on a core, its pieces of work.
std::size_t launches_in(const Recording& recording, Interval step) {
  std::size_t launches = 0;
  for (const GpuActivity& activity : recording.activities) {
    if (!activity.launch && !recording.is_of_core) continue;
    const Nanoseconds at =
        recording.is_of_core ? activity.time.start : recording.at(*activity.launch).time.start;
    launches += is_within(at, step) ? 1 : 0;
  }
  return launches;
}

/// A step whose beginning the profiler missed has fewer launches than the others. A short time says
/// nothing: the first step's host does not wait for a GPU that has nothing to do yet.
void about_first_step(const Recording& recording, const Observation& seen, Sentences& say) {
  constexpr double kFewer = 0.8;
  constexpr std::size_t kLookedAt = 6;
  if (seen.steps.size() < 3) return;
  std::vector<Nanoseconds> launches;
  for (std::size_t i = 0; i < std::min(kLookedAt, seen.steps.size()); ++i)
    launches.push_back(static_cast<Nanoseconds>(launches_in(recording, seen.steps[i].window)));
  const Nanoseconds first = launches.front();
  const Nanoseconds others = upper_median({launches.begin() + 1, launches.end()});
  if (static_cast<double>(first) < kFewer * static_cast<double>(others))
    say.push_back(fmt::format("The first step ({}) is cut: it launches {}, and others {}.",
                              seen.steps.front().name, grouped(first), grouped(others)));
}

void about_steps(const Recording& recording, const Observation& seen, Sentences& say) {
  if (recording.activities.empty()) {
    say.push_back("No work of a GPU was recorded: nothing is known of its time.");
    return;
  }
  if (seen.steps.empty()) {
    say.push_back(
        "No steps are marked: the time of a step is not known, and the window is from the first to "
        "the last activity of the GPU. torch.profiler marks steps where the loop calls step(), and "
        "an "
        "NVTX range around each step does it for nsys.");
    return;
  }
  about_first_step(recording, seen, say);
  const Nanoseconds last = recording.activities.back().time.end;
  if (last > seen.window.end && !recording.is_of_core)
    say.push_back(fmt::format(
        "The GPU works until {} after the last step ended on the host: steps are those of the "
        "host, and the column launched (launched_busy_s) says how long it is busy with what each "
        "launched.",
        time_text(last - seen.window.end)));
}

/// Activities of the window that have no launch in the recording.
void about_launches(const Recording& recording, const Observation& seen, Sentences& say) {
  std::size_t without = 0, early = 0;
  Nanoseconds shift = 0;
  for (const GpuActivity& activity : recording.activities) {
    if (!is_within(activity.time.start, seen.window)) continue;
    without += activity.launch ? 0 : 1;
    if (!activity.launch) continue;
    const Nanoseconds latency = activity.time.start - recording.at(*activity.launch).time.start;
    early += latency < 0 ? 1 : 0;
    shift = std::min(shift, latency);
  }
  if (without > 0)
    say.push_back(fmt::format(
        "{} of {} activities have no launch in the recording (launched before it began, or not "
        "recorded): why the GPU was idle before them is not known ({}).",
        grouped(static_cast<std::int64_t>(without)),
        grouped(static_cast<std::int64_t>(seen.activities)),
        time_text(seen.idle.causes.unmatched)));
  if (early > 0)
    say.push_back(fmt::format(
        "{} before their launch: the clocks of host and GPU differ by {} or more, which is not "
        "corrected.",
        count(early, "activity starts", "activities start"), time_text(-shift)));
}

/// Launches of kernels within the window whose kernels are not in the recording.
void about_missing_kernels(const Recording& recording, const Observation& seen, Sentences& say) {
  std::set<std::uint64_t> launched;
  for (const GpuActivity& activity : recording.activities) launched.insert(activity.correlation);
  launched.insert(recording.notes.untimed_launches.begin(), recording.notes.untimed_launches.end());
  std::size_t calls = 0, without = 0;
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (event.work != HostWork::runtime || !is_within(event.time.start, seen.window) ||
          recording.name_of(event).find("LaunchKernel") == std::string::npos)
        continue;
      ++calls;
      without += launched.contains(event.correlation) ? 0 : 1;
    }
  }
  if (calls == 0 || static_cast<double>(without) < 0.01 * static_cast<double>(calls)) return;
  say.push_back(fmt::format(
      "{} of {} launches have no kernel in the recording (sampled, lost, or behind its end): the "
      "GPU was less idle than it seems.",
      grouped(static_cast<std::int64_t>(without)), grouped(static_cast<std::int64_t>(calls))));
}

void about_graphs(const Recording& recording, const Observation& seen, Sentences& say) {
  std::map<std::uint64_t, std::size_t> replays;
  for (const GpuActivity& activity : recording.activities) {
    if (activity.launch && replays_graph(recording.name_of(recording.at(*activity.launch))))
      ++replays[activity.correlation];
  }
  if (replays.empty()) return;
  std::size_t kernels = 0;
  for (const auto& [correlation, of_it] : replays) kernels += of_it;
  if (kernels == replays.size()) return;  // nothing lies between kernels of a replay
  say.push_back(fmt::format(
      "{} of a CUDA graph with {}: profilers may miss kernels of a replay, so that the {} between "
      "them are not known to be idle.",
      count(replays.size(), "replay", "replays"), count(kernels, "activity", "activities"),
      time_text(seen.idle.doubts.graph_replays)));
}

void about_waits(const Observation& seen, Sentences& say) {
  const Nanoseconds waits = seen.idle.doubts.long_waits;
  if (waits > 0)
    say.push_back(fmt::format(
        "For {} work that was launched waits, each time for more than 1 ms, while nothing runs on "
        "any stream: what it waits for was not recorded, and the GPU may not be idle.",
        time_text(waits)));
}

void about_overlaps(const Recording& recording, Sentences& say) {
  std::map<std::int32_t, Nanoseconds> ends;
  std::size_t overlaps = 0;
  for (const GpuActivity& activity : recording.activities) {
    const auto [end, is_new] = ends.try_emplace(activity.stream, activity.time.end);
    if (is_new) continue;
    overlaps += activity.time.start < end->second ? 1 : 0;
    end->second = std::max(end->second, activity.time.end);
  }
  if (overlaps > 0)
    say.push_back(fmt::format(
        "{} while the one before it in the stream runs (programmatic dependent launch, or branches "
        "of a graph): times by kind count both.",
        count(overlaps, "kernel starts", "kernels start")));
}

void about_recorders(const Recording& recording, const Observation& seen, Sentences& say) {
  std::vector<const char*> on;
  if (recording.notes.has_stacks) on.push_back("Python stacks");
  if (recording.notes.has_shapes) on.push_back("shapes");
  if (recording.notes.has_memory) on.push_back("memory");
  if (!on.empty() && seen.idle.causes.late_host > 0)
    say.push_back(fmt::format(
        "The profiler recorded {}, too, which slows the host: without that, late-host time is "
        "shorter.",
        fmt::join(on, " and ")));
  double unknown = 0, all = 0;
  for (const KernelTime& kind : seen.kinds) {
    all += kind.seconds;
    if (kind.kind == KernelKind::unknown) unknown += kind.seconds;
  }
  if (unknown > 0.005 * all)
    say.push_back(fmt::format(
        "Kernels that calib/kernels.yaml does not know take {} of the kernels' time: taken for "
        "computation.",
        percent(unknown / all)));
}

}  // namespace

std::vector<std::string> not_known(const Recording& recording, const Observation& seen) {
  Sentences say;
  if (recording.is_of_core)
    say.push_back(
        "No GPU was recorded: the core of the training loop is the device, and its operators are "
        "what computes. Where threads share cores, waiting for one looks like computing.");
  about_reading(recording, say);
  about_steps(recording, seen, say);
  if (recording.activities.empty()) return say;
  about_launches(recording, seen, say);
  about_missing_kernels(recording, seen, say);
  about_graphs(recording, seen, say);
  about_waits(seen, say);
  if (!recording.is_of_core) about_overlaps(recording, say);
  about_recorders(recording, seen, say);
  return say;
}

}  // namespace stepsim
