// Writes what a recording shows as a screen of text.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/report/recording/recording_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTitle = 48, kTime = 10, kShare = 10, kCalls = 9;
constexpr int kNarrowest = 80, kWidest = 100;
constexpr std::size_t kSteps = 8, kKinds = 8, kKernels = 5, kGaps = 3;
constexpr double kSmall = 0.0005;  // a smaller share prints as 0.0 %

using Row = std::pair<const char*, Nanoseconds>;

class RecordingPage : Page {
 public:
  RecordingPage(const Observation& seen, Screen screen)
      : Page(screen, kNarrowest, kWidest),
        seen_(seen),
        column_(column_for(Seconds{seconds_of(seen.window.length())})) {}

  std::string text() {
    header();
    if (seen_.window.length() > 0) {
      where_it_goes();
      why_idle();
      steps();
      kernels();
      gaps();
    }
    for (std::size_t i = 0; i < seen_.not_known.size(); ++i)
      paragraph(i == 0 ? "Not known" : "", seen_.not_known[i]);
    const RecordingVerdict verdict = verdict_of(seen_);
    paragraph("Verdict", verdict.sentence);
    paragraph("Next", verdict.next);
    return out_;
  }

 private:
  double share(double seconds) const { return seconds / seconds_of(seen_.window.length()); }
  std::string time_text(Nanoseconds time) const { return column_.text(seconds_of(time)); }

  void header() {
    std::string who = seen_.device.empty() ? "a GPU that is not named" : seen_.device;
    if (seen_.rank) who += fmt::format(", rank {}", *seen_.rank);
    if (seen_.rank && seen_.world_size) who += fmt::format(" of {}", *seen_.world_size);
    heading(fmt::format("{}: {}", seen_.file, who));
    const std::size_t steps = seen_.steps.size();
    wrapped(fmt::format("recorded by {}; {}, {} activities of the GPU in {}", seen_.format,
                        steps == 0   ? "no steps are marked"
                        : steps == 1 ? "1 step"
                                     : fmt::format("{} steps", steps),
                        grouped(static_cast<std::int64_t>(seen_.activities)),
                        humanise(Seconds{seconds_of(seen_.window.length())}).text()));
    line();
  }

  void row(const std::string& title, double seconds, const std::string& more = "") {
    line("  " + pad_right(title, kTitle) + pad_left(column_.text(seconds), kTime) +
         pad_left(percent(share(seconds)), kShare) + more);
  }

  void rows(std::initializer_list<Row> of) {
    for (const auto& [title, time] : of) {
      if (share(seconds_of(time)) >= kSmall) row(title, seconds_of(time));
    }
  }

  void where_it_goes() {
    const GpuTime& gpu = seen_.gpu;
    line(bold("Where the time goes"));
    rows({{"computing", gpu.compute},
          {"communication that nothing hides", gpu.exposed_communication()},
          {"copies while nothing else runs", gpu.copies_alone()},
          {"idle", seen_.idle_length()}});
    row(seen_.steps.empty() ? "all that was recorded" : "all steps",
        seconds_of(seen_.window.length()));
    if (gpu.communication > 0)
      wrapped(
          fmt::format(
              "communication takes {}, {} of it beside computation", time_text(gpu.communication),
              percent(seconds_of(gpu.communication_and_compute) / seconds_of(gpu.communication))),
          2);
    line();
  }

  void why_idle() {
    const IdleCauses& idle = seen_.idle.causes;
    const HostStates& host = seen_.idle.late_host;
    if (seen_.idle_length() == 0) return;
    line(bold("Why the GPU is idle"));
    rows({{"late launch: the loader", host.loader},
          {"late launch: a synchronising call", host.sync},
          {"late launch: operators", host.operation},
          {"late launch: calls of the runtime", host.runtime},
          {"late launch: Python between them", host.python},
          {"launch latency: from the call to the kernel", idle.launch_latency},
          {"queued: launched before, waits in its stream", idle.queued},
          {"gaps below 2 us", idle.tiny},
          {"not known: the launch was not recorded", idle.unmatched},
          {"behind the last activity", idle.tail}});
    line();
  }

  void steps() {
    if (seen_.steps.empty()) return;
    line(bold(pad_right("Steps", 26)) + bold(pad_left("step", kTime)) +
         bold(pad_left("busy", kTime)) + bold(pad_left("computes", kTime)) +
         bold(pad_left("exposed", kTime)) + bold(pad_left("launched", kTime)));
    const std::size_t shown = std::min(kSteps, seen_.steps.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ObservedStep& step = seen_.steps[i];
      line("  " + pad_right(step.name, 24) + pad_left(time_text(step.window.length()), kTime) +
           pad_left(time_text(step.gpu.busy), kTime) +
           pad_left(time_text(step.gpu.compute), kTime) +
           pad_left(time_text(step.gpu.exposed_communication()), kTime) +
           pad_left(time_text(step.launched_busy), kTime));
    }
    if (shown < seen_.steps.size())
      line(fmt::format("  and {} more: --format json has all", seen_.steps.size() - shown));
    line();
  }

  static std::string shortened(std::string text) {
    if (width_of(text) > kTitle - 1) text = text.substr(0, kTitle - 4) + "...";
    return text;
  }

  void listed(const char* title, const std::vector<KernelTime>& kernels, std::size_t most) {
    if (kernels.empty()) return;
    line(bold(title));
    for (std::size_t i = 0; i < std::min(most, kernels.size()); ++i)
      row(shortened(kernels[i].name), kernels[i].seconds,
          pad_left(grouped(static_cast<std::int64_t>(kernels[i].calls)), kCalls) + " x");
    line();
  }

  void kernels() {
    listed("Kernels by kind", seen_.kinds, kKinds);
    listed("Kernels that take most", seen_.kernels, kKernels);
  }

  void gaps() {
    std::vector<ObservedGap> late = seen_.late_gaps;
    std::erase_if(late, [&](const ObservedGap& gap) {
      return gap.late_s < gap.seconds / 2 || share(gap.seconds) < kSmall;
    });
    if (late.empty()) return;
    line(bold("Longest gaps in which the host was late, before"));
    for (std::size_t i = 0; i < std::min(kGaps, late.size()); ++i)
      row(shortened(late[i].before), late[i].seconds,
          fmt::format("  at {}", column_.text(late[i].at_s)));
    line();
  }

  const Observation& seen_;
  Column column_;
};

}  // namespace

std::string to_table(const Observation& seen, const Screen& screen) {
  return RecordingPage(seen, screen).text();
}

}  // namespace stepsim
