// Writes what a recording shows as a screen of text.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/report/recording/recording_report.hpp"
#include "sim/report/recording/replay_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTitle = 48, kTime = 10, kShare = 10, kCalls = 9;
constexpr int kProductTitle = 40, kProductCalls = 8, kRate = 9, kAttainable = 11;
constexpr int kNarrowest = 80, kWidest = 100;
constexpr std::size_t kSteps = 8, kKinds = 8, kKernels = 5, kGaps = 3, kRanks = 16, kSites = 5,
                      kCollectives = 8, kLate = 4, kCopies = 4, kProducts = 6;
constexpr double kSmall = 0.0005;  // a smaller share prints as 0.0 %
constexpr double kWorthSaying = 0.01;

using Row = std::pair<const char*, Nanoseconds>;

/// The title of a row, with a short word for a late host's state.
std::string title_of(IdleKind kind) {
  switch (kind) {
    case IdleKind::late_sync:
      return "synchronises";
    case IdleKind::late_loader:
      return "loader";
    case IdleKind::late_runtime:
      return "runtime";
    case IdleKind::late_operation:
      return "operator";
    default:
      return "Python";
  }
}

class RecordingPage : Page {
 public:
  RecordingPage(const RecordedJob& job, Screen screen, const std::optional<Replay>& replay)
      : Page(screen, kNarrowest, kWidest),
        job_(job),
        replay_(replay),
        seen_(job.pace_rank()),
        column_(column_for(Seconds{seconds_of(seen_.window.length())})) {}

  std::string text() {
    header();
    if (seen_.window.length() > 0) {
      if (job_.ranks.size() > 1) ranks();
      where_it_goes();
      why_idle();
      sites();
      steps();
      kernels();
      products();
      copies();
      gaps();
      collectives();
      late_ranks();
      if (replay_) out_ += replay_table(*replay_, screen_);
    }
    const std::vector<std::string> not_known = all_not_known(job_);
    for (std::size_t i = 0; i < not_known.size(); ++i)
      paragraph(i == 0 ? "Not known" : "", not_known[i]);
    const RecordingVerdict verdict = verdict_of(job_);
    paragraph("Verdict", verdict.sentence);
    paragraph("Next", verdict.next);
    const std::string gain = replay_ ? gain_sentence(*replay_, verdict.change) : "";
    if (!gain.empty()) paragraph("Gain", gain);
    return out_;
  }

 private:
  double share(double seconds) const { return seconds / seconds_of(seen_.window.length()); }
  std::string time_text(Nanoseconds time) const { return column_.text(seconds_of(time)); }

  std::string device() const {
    return seen_.device.empty() ? "a GPU that is not named" : seen_.device;
  }
  const char* kind_of_device() const { return seen_.is_of_core ? "core" : "GPU"; }

  void header() {
    std::string who = device();
    const std::size_t ranks = job_.ranks.size();
    if (ranks == 1 && seen_.rank) who += fmt::format(", rank {}", *seen_.rank);
    if (ranks == 1 && seen_.rank && seen_.world_size)
      who += fmt::format(" of {}", *seen_.world_size);
    if (ranks > 1)
      who += fmt::format(", {} ranks{}", ranks,
                         seen_.world_size ? fmt::format(" of {}", *seen_.world_size) : "");
    heading(fmt::format("{}: {}", job_.path, who));
    const std::size_t steps = seen_.steps.size();
    wrapped(fmt::format(
        "recorded by {}; {}, {} of the {} in {}{}", seen_.format,
        steps == 0   ? "no steps are marked"
        : steps == 1 ? "1 step"
                     : fmt::format("{} steps", steps),
        grouped(static_cast<std::int64_t>(seen_.activities)) +
            (seen_.activities == 1 ? " activity" : " activities"),
        kind_of_device(), humanise(Seconds{seconds_of(seen_.window.length())}).text(),
        ranks > 1 ? fmt::format(" on rank {}, which works longest", seen_.rank.value_or(0)) : ""));
    if (seen_.memory)
      wrapped(fmt::format("memory: tensors of {} at most, {} reserved",
                          humanise(Bytes{seen_.memory->allocated_bytes}).text(),
                          humanise(Bytes{seen_.memory->reserved_bytes}).text()));
    if (job_.clocks.binding > 0)
      wrapped(fmt::format("clocks are aligned on the ends of {} collectives, to {}",
                          grouped(static_cast<std::int64_t>(job_.clocks.binding)),
                          humanise(Seconds{seconds_of(job_.clocks.residual)}).text()));
    line();
  }

  /// What each rank does in a mean step, those that wait least first.
  void ranks() {
    line(bold(pad_right(seen_.steps.empty() ? "Ranks" : "Ranks, a mean step", 26)) +
         bold(pad_left("step", kTime)) + bold(pad_left("computes", kTime)) +
         bold(pad_left("exposed", kTime)) + bold(pad_left("waits", kTime)) +
         bold(pad_left("loader", kTime)) + bold(pad_left("host", kTime)));
    std::vector<const Observation*> order;
    for (const Observation& rank : job_.ranks) order.push_back(&rank);
    std::ranges::stable_sort(
        order, {}, [](const Observation* rank) { return rank->breakdown.of(Cause::sync_wait); });
    const std::size_t shown = std::min(kRanks, order.size());
    for (std::size_t i = 0; i < shown; ++i) rank_row(*order[i]);
    if (shown < order.size())
      line(fmt::format("  and {} more: --format json has all", order.size() - shown));
    line();
  }

  void rank_row(const Observation& rank) {
    const CauseSeconds causes = mean_step_causes(rank);
    const auto of = [&](std::initializer_list<Cause> some) {
      double sum = 0;
      for (const Cause cause : some) sum += causes[static_cast<std::size_t>(cause)];
      return pad_left(column_.text(sum), kTime);
    };
    double exposed_s = 0;
    for (const Axis axis : kAllAxes) exposed_s += causes[static_cast<std::size_t>(exposed(axis))];
    const double steps = static_cast<double>(std::max<std::size_t>(1, rank.steps.size()));
    line("  " + pad_right(fmt::format("rank {}", rank.rank.value_or(0)), 24) +
         pad_left(column_.text(seconds_of(rank.window.length()) / steps), kTime) +
         of({Cause::forward, Cause::recompute, Cause::backward, Cause::optimizer}) +
         pad_left(column_.text(exposed_s), kTime) + of({Cause::sync_wait}) +
         of({Cause::batch_wait}) +
         of({Cause::launch_gap, Cause::cpu_work, Cause::recompilation, Cause::garbage_collection}));
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

  /// The rows that are not too small, with a title where there are any.
  void rows_below(const std::string& title, std::initializer_list<Row> of) {
    const bool any = std::ranges::any_of(
        of, [&](const Row& one) { return share(seconds_of(one.second)) >= kSmall; });
    if (!any) return;
    line(title);
    rows(of);
    line();
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
    const Nanoseconds collecting = seen_.breakdown.of(Cause::garbage_collection);
    const Nanoseconds compiling = seen_.breakdown.of(Cause::recompilation);
    const Nanoseconds in_operations = seen_.breakdown.pauses_in_operations;
    const std::string title = bold(fmt::format("Why the {} is idle", kind_of_device()));
    rows_below(title, {{"late launch: the loader", host.loader},
                       {"late launch: a synchronising call", host.sync},
                       {"late launch: garbage collection", collecting},
                       {"late launch: recompilation", compiling},
                       {"late launch: operators", host.operation - in_operations},
                       {"late launch: calls of the runtime", host.runtime},
                       {"late launch: Python between them",
                        host.python - (collecting + compiling - in_operations)},
                       {"launch latency: from the call to the kernel", idle.launch_latency},
                       {"queued: launched before, waits in its stream", idle.queued},
                       {"gaps below 2 us", idle.tiny},
                       {"not known: the launch was not recorded", idle.unmatched},
                       {"behind the last activity", idle.tail}});
  }

  /// Where in the program the host is late.
  void sites() {
    bool any = false;
    for (std::size_t i = 0; i < std::min(kSites, seen_.late_sites.size()); ++i) {
      const LateSite& site = seen_.late_sites[i];
      if (share(seconds_of(site.idle)) < kWorthSaying) break;
      if (!any) line(bold("Where the host is late"));
      any = true;
      site_rows(site);
    }
    if (any) line();
  }

  void site_rows(const LateSite& site) {
    const HostPlace& place = site.place;
    std::string where;
    for (const std::string& part : {place.operation, place.call}) {
      if (!part.empty()) where += (where.empty() ? "" : ", ") + part;
    }
    const bool is_loader = site.kind == IdleKind::late_loader;
    if (where.empty() && !is_loader) where = place.annotation;
    if (where.empty() && !is_loader) where = "between operators";
    row(shortened(title_of(site.kind) + (where.empty() ? "" : ": " + where)), seconds_of(site.idle),
        pad_left(grouped(static_cast<std::int64_t>(site.times)), kCalls) + " x");
    if (!place.line.empty()) line("    in " + place.line);
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
    listed("Kernels by kind (sums: those beside each other count each)", seen_.kinds, kKinds);
    listed("Kernels that take most", seen_.kernels, kKernels);
  }

  static std::string rate_text(Flops flops, double seconds) {
    return seconds > 0 ? fmt::format("{:.3g}", 1e-12 * flops.flops() / seconds) : "-";
  }

  void product_row(const std::string& title, double seconds, std::size_t calls,
                   const std::string& rate, const std::string& attainable) {
    line("  " + pad_right(title, kProductTitle) + pad_left(column_.text(seconds), kTime) +
         pad_left(grouped(static_cast<std::int64_t>(calls)), kProductCalls) +
         pad_left(rate, kRate) + pad_left(attainable, kAttainable));
  }

  /// Products of recorded sizes: the rate that they reach, and that which the GPU's profile has.
  void products() {
    const Products& products = seen_.products;
    if (products.times.empty()) return;
    line(bold(pad_right("Products by recorded size", kProductTitle + 2)) +
         bold(pad_left("time", kTime)) + bold(pad_left("calls", kProductCalls)) +
         bold(pad_left("TFLOP/s", kRate)) + bold(pad_left("attainable", kAttainable)));
    const std::size_t shown = std::min(kProducts, products.times.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const ProductTime& time = products.times[i];
      const std::string type = ", " + name_of(time.precision);
      std::string title = time.title;
      if (width_of(title + type) >= kProductTitle)
        title = title.substr(0, kProductTitle - 4 - type.size()) + "...";
      product_row(title + type, time.seconds, time.calls, rate_text(time.flops, time.seconds),
                  time.attainable ? rate_text(time.flops, time.attainable->seconds()) : "-");
    }
    all_products(products);
    wrapped(products_sentence(products, seconds_of(seen_.window.length()), seen_.is_of_core), 2);
    line();
  }

  void all_products(const Products& products) {
    if (products.times.size() < 2) return;
    std::size_t calls = 0;
    for (const ProductTime& time : products.times) calls += time.calls;
    const ComparedProducts compared = compared_products(products);
    product_row(fmt::format("all {} sizes", products.times.size()), products.known_s(), calls,
                rate_text(products.flops, products.known_s()),
                compared.share < kMostlyKnown
                    ? "-"
                    : rate_text(compared.flops, compared.attainable.seconds()));
  }

  void copies() {
    if (seen_.copies.empty() || share(seen_.copies.front().seconds) < kWorthSaying) return;
    line(bold("Copies"));
    for (std::size_t i = 0; i < std::min(kCopies, seen_.copies.size()); ++i) {
      const CopyTime& copy = seen_.copies[i];
      std::string more = pad_left(grouped(static_cast<std::int64_t>(copy.calls)), kCalls) + " x";
      if (copy.bytes > 0)
        more += fmt::format("  {} at {:.4g} GB/s", humanise(Bytes{copy.bytes}).text(),
                            1e-9 * copy.bytes / copy.seconds);
      row(shortened(copy.name), copy.seconds, more);
    }
    line();
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

  void collectives() {
    if (job_.collectives.empty()) return;
    line(bold(pad_right("Collectives, a mean rank", 36)) + bold(pad_left("calls", 8)) +
         bold(pad_left("size", 10)) + bold(pad_left("time", kTime)) +
         bold(pad_left("exposed", kTime)) + bold(pad_left("waits", kTime)) +
         bold(pad_left("bus rate", 15)));
    for (std::size_t i = 0; i < std::min(kCollectives, job_.collectives.size()); ++i) {
      const ObservedCollective& one = job_.collectives[i];
      std::string who = one.operation;
      if (one.group_size > 0) who += fmt::format(" of {}", one.group_size);
      if (!one.group.empty()) who += fmt::format(", {}", one.group);
      if (width_of(who) > 33) who = who.substr(0, 30) + "...";
      line("  " + pad_right(who, 34) + pad_left(fmt::format("{:.6g}", one.calls), 8) +
           pad_left(one.bytes > 0 ? humanise(Bytes{one.bytes / one.calls}).text() : "-", 10) +
           pad_left(column_.text(one.seconds), kTime) +
           pad_left(column_.text(one.exposed_s), kTime) +
           pad_left(one.knows_waiting ? column_.text(one.waiting_s) : "-", kTime) +
           pad_left(one.bus_bytes_per_s > 0
                        ? fmt::format("{}{:.4g} GB/s", one.is_lower_bound ? ">= " : "",
                                      one.bus_bytes_per_s * 1e-9)
                        : "-",
                    15));
    }
    line();
  }

  void late_ranks() {
    for (std::size_t i = 0; i < std::min(kLate, job_.late_ranks.size()); ++i) {
      const LateRank& late = job_.late_ranks[i];
      paragraph(
          i == 0 ? "Late ranks" : "",
          fmt::format("rank {} comes last at {} of {} collectives: a step, the others wait {} for "
                      "it; {}",
                      late.rank.value_or(0), late.last_at, late.of_collectives,
                      humanise(Seconds{late.late_s}).text(), sentence_of(late)));
    }
  }

  const RecordedJob& job_;
  const std::optional<Replay>& replay_;
  const Observation& seen_;
  Column column_;
};

}  // namespace

std::string to_table(const RecordedJob& job, const Screen& screen,
                     const std::optional<Replay>& replay) {
  return RecordingPage(job, screen, replay).text();
}

}  // namespace stepsim
