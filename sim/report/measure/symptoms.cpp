// Finds idle stretches of a compute row, and applies rules to them.
#include "sim/report/measure/symptoms.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "sim/report/measure/straggler.hpp"
#include "sim/report/measure/verdict.hpp"
#include "sim/text/humanise.hpp"
#include "sim/timeline/host_work.hpp"
#include "sim/timeline/partition.hpp"

namespace stepsim {
namespace {

constexpr double kWorthSaying = 0.05;  // share of the measured steps
constexpr double kSpike = 1.1;         // factor on the median step
constexpr double kOneInN = 0.8;  // share of the waits for batches that fall on every N-th batch

double of(const CauseSeconds& causes, Cause cause) {
  return causes[static_cast<std::size_t>(cause)];
}
double waiting_for_input(const CauseSeconds& causes) {
  return of(causes, Cause::batch_wait) + of(causes, Cause::h2d);
}

/// A stretch in which the compute row is idle between two of its spans; `causes` sum to it.
struct Gap {
  double from, to;
  const Span* before;  ///< null: it is the first gap of the window
  const Span* after;
  CauseSeconds causes;
  double seconds() const { return to - from; }
};

/// The measured steps of one rank.
struct View {
  const Timeline& timeline;
  const Metrics& metrics;
  const RankTimeline& rank;
  double from, to;
  std::vector<const Span*> compute;
  std::vector<Gap> gaps;
  std::vector<const Span*> host, loaders;  // spans of the host's work, and of the loaders'
  std::vector<const Span*> reads;          // spans in which the host reads values (host.sync)

  double share(double seconds) const { return seconds / (to - from); }
  Seconds per_step(double seconds) const { return Seconds{seconds / timeline.measured_steps()}; }
};

/// The seconds that some spans take within the gap.
double busy_in(const Gap& gap, const std::vector<const Span*>& spans) {
  double sum = 0;
  for (const Span* span : spans)
    sum += std::max(0.0, std::min(span->end, gap.to) - std::max(span->start, gap.from));
  return sum;
}

int workers_of(const RankTimeline& rank) {
  return static_cast<int>(std::ranges::count(rank.rows, RowKind::loader, &Row::kind));
}

/// What the time from `from` to the start of the span was spent on.
CauseSeconds waits_before(const View& view, const Span& span, double from) {
  CauseSeconds causes = partition(view.timeline, view.rank, from, span.end);
  const CauseSeconds work = work_of(view.timeline, span);
  for (std::size_t i = 0; i < kCauses; ++i) causes[i] = std::max(0.0, causes[i] - work[i]);
  return causes;
}

void find_gaps(View& view) {
  double idle_from = view.from;
  const Span* before = nullptr;
  for (const Span& span : view.rank.spans) {
    const bool computes = view.rank.rows[span.row].kind == RowKind::compute;
    if (!computes || span.end <= view.from || span.start >= view.to) continue;
    view.compute.push_back(&span);
    if (span.start > idle_from)
      view.gaps.push_back(
          {idle_from, span.start, before, &span, waits_before(view, span, idle_from)});
    idle_from = std::max(idle_from, span.end);
    before = &span;
  }
}

std::string amount(const View& view, double seconds) {
  return fmt::format("{} a step, {}", humanise(view.per_step(seconds)).text(),
                     percent(view.share(seconds)));
}

std::optional<Symptom> late_start(const View& view) {
  double batch = 0, copy = 0;
  for (const Gap& gap : view.gaps) {
    if (gap.before != nullptr && gap.before->step == gap.after->step) continue;
    batch += of(gap.causes, Cause::batch_wait);
    copy += of(gap.causes, Cause::h2d);
  }
  if (view.share(batch + copy) < kWorthSaying) return {};
  return Symptom{"late_start", "the GPU is idle before the first kernel",
                 amount(view, batch + copy),
                 copy > batch ? "the copy of the batch to the GPU" : "the input pipeline",
                 view.per_step(batch + copy)};
}

bool contains(const View& view, const Span& span, std::initializer_list<Cause> causes) {
  const CauseSeconds work = work_of(view.timeline, span);
  return std::ranges::any_of(causes, [&](Cause c) { return of(work, c) > 0; });
}

bool before_backward(const View& view, const Gap& gap) {
  return gap.before != nullptr && contains(view, *gap.before, {Cause::forward}) &&
         contains(view, *gap.after, {Cause::backward, Cause::recompute});
}

double own_work_of_host(const CauseSeconds& causes) {
  return of(causes, Cause::cpu_work) + of(causes, Cause::recompilation) +
         of(causes, Cause::garbage_collection);
}

/// What the CPU probably does: the cause of its own work that the waits have most of.
const char* suspect_on_host(const CauseSeconds& waits) {
  const double loss = of(waits, Cause::cpu_work);
  const double compiles = of(waits, Cause::recompilation);
  const double collects = of(waits, Cause::garbage_collection);
  if (own_work_of_host(waits) <= 0) return "a loss or metrics on the CPU, or a recompilation";
  if (loss >= std::max(compiles, collects)) return "a loss or metrics on the CPU";
  return compiles >= collects ? "a recompilation" : "Python's garbage collection";
}

/// The gaps, before a backward pass or elsewhere, in which the CPU works.
std::optional<Symptom> host_at_work(const View& view, bool in_middle, Symptom found) {
  double idle = 0, working = 0, reading = 0;
  CauseSeconds waits{};
  for (const Gap& gap : view.gaps) {
    if (before_backward(view, gap) != in_middle) continue;
    if (!in_middle && own_work_of_host(gap.causes) < gap.seconds() / 2) continue;
    idle += gap.seconds();
    working += busy_in(gap, view.host);
    reading += busy_in(gap, view.reads);
    for (std::size_t i = 0; i < kCauses; ++i) waits[i] += gap.causes[i];
  }
  if (view.share(idle) < kWorthSaying || working < idle / 2) return {};
  found.evidence = amount(view, idle);
  found.suspect =
      2 * reading > working ? "reading a value back (host.sync)" : suspect_on_host(waits);
  found.seconds = view.per_step(idle);
  return found;
}

std::optional<Symptom> loss_gap(const View& view) {
  return host_at_work(
      view, true,
      {"loss_gap", "the GPU is idle between forward and backward while the CPU works", "", ""});
}

std::optional<Symptom> busy_host(const View& view) {
  return host_at_work(
      view, false,
      {"busy_host", "the GPU is idle while the CPU that feeds it does something else", "", ""});
}

/// Work of other ranks' hosts is on the critical path, and this rank does none of it.
std::optional<Symptom> others_pause(const View& view) {
  CauseSeconds elsewhere{}, own{};
  for (const Span* span : view.host) {
    own[static_cast<std::size_t>(span->cause)] +=
        std::max(0.0, std::min(span->end, view.to) - std::max(span->start, view.from));
  }
  for (const Cause cause : {Cause::cpu_work, Cause::recompilation, Cause::garbage_collection}) {
    const double here = view.per_step(of(own, cause)).seconds();
    elsewhere[static_cast<std::size_t>(cause)] =
        std::max(0.0, of(view.metrics.critical, cause) - here);
  }
  const Seconds waits{own_work_of_host(elsewhere)};
  const double share = waits / view.metrics.step_time;
  if (share < kWorthSaying) return {};
  const bool collects = of(elsewhere, Cause::garbage_collection) * 2 > waits.seconds();
  return Symptom{"others_pause", "hosts of other ranks stop, and everybody waits for them",
                 fmt::format("{} a step, {}", humanise(waits).text(), percent(share)),
                 collects ? "Python's garbage collection at another time on each rank "
                            "(host.garbage_collection.aligned)"
                          : suspect_on_host(elsewhere),
                 waits};
}

std::optional<Symptom> starvation(const View& view) {
  double idle = 0, working = 0, loading = 0;
  for (const Gap& gap : view.gaps) {
    if (of(gap.causes, Cause::batch_wait) < gap.seconds() / 2) continue;
    idle += gap.seconds();
    working += busy_in(gap, view.host);
    loading += busy_in(gap, view.loaders);
  }
  if (view.share(idle) < kWorthSaying || working > idle / 2) return {};
  return Symptom{"starvation", "the GPU is idle, and so is the CPU thread that feeds it",
                 fmt::format("{}, in which {:.1f} of {} loader workers are busy",
                             amount(view, idle), loading / idle, workers_of(view.rank)),
                 "data starvation: too few workers, slow decoding or slow storage",
                 view.per_step(idle)};
}

/// The time from the end of the last backward kernel to the end of the step.
std::optional<Symptom> long_tail(const View& view) {
  double tail = 0;
  for (auto step = static_cast<std::size_t>(view.timeline.warmup);
       step < view.timeline.step_ends.size(); ++step) {
    const Span* last = nullptr;
    for (const Span* span : view.compute) {
      if (span->step == step && contains(view, *span, {Cause::backward})) last = span;
    }
    if (last == nullptr) continue;
    const double end = view.timeline.step_ends[step];
    tail +=
        of(partition(view.timeline, view.rank, std::min(last->end, end), end), exposed(Axis::data));
  }
  // The step does not wait for gradients that others are late with.
  const double awaited = of(view.metrics.critical, exposed(Axis::data));
  if (view.share(tail) < kWorthSaying) return {};
  if (awaited < kWorthSaying * view.metrics.step_time.seconds()) return {};
  return Symptom{"long_tail", "gradients are still on their way long after backward",
                 amount(view, tail), "the all-reduce: its bucket size, its overlap, the topology",
                 view.per_step(tail)};
}

/// The cause of which a step has more than a mean step does.
Cause what_grows(const View& view, std::size_t step) {
  const CauseSeconds here = partition(view.timeline, view.rank, view.timeline.step_start(step),
                                      view.timeline.step_ends[step]);
  const CauseSeconds mean = partition(view.timeline, view.rank, view.from, view.to);
  std::size_t most = 0;
  const auto growth = [&](std::size_t i) {
    return here[i] - mean[i] / view.timeline.measured_steps();
  };
  for (std::size_t i = 1; i < kCauses; ++i) most = growth(i) > growth(most) ? i : most;
  return static_cast<Cause>(most);
}

const char* suspect_of_spikes(Cause cause) {
  switch (cause) {
    case Cause::batch_wait:
    case Cause::h2d:
      return "the storage, or loaders that come in turns";
    case Cause::cpu_work:
      return "a loss or metrics on the CPU every so many steps";
    case Cause::recompilation:
      return "batches of another shape, for which a pass is compiled again";
    case Cause::garbage_collection:
      return "Python's garbage collection";
    case Cause::checkpoint:
      return "a checkpoint: checkpoint.mode=async, shards, or more steps between them";
    case Cause::launch_gap:
      return "the host: garbage collection, another process, a recompilation";
    default:
      return "a checkpoint, or a noisy neighbour on the network";
  }
}

std::optional<Symptom> spikes(const View& view) {
  const std::vector<Seconds>& steps = view.metrics.steps;
  if (steps.size() < 3) return {};
  std::vector<Seconds> sorted = steps;
  std::ranges::sort(sorted);
  const Seconds median = sorted[sorted.size() / 2];
  const auto spiky =
      std::ranges::count_if(steps, [&](Seconds step) { return step > kSpike * median; });
  if (spiky == 0) return {};
  const auto worst = std::ranges::max_element(steps);
  const auto index = static_cast<std::size_t>(worst - steps.begin() + view.timeline.warmup);
  const Cause grows = what_grows(view, index);
  return Symptom{
      "spikes", "some steps take much longer than others",
      fmt::format("{} of {}, up to {} where the median is {}, by {}", spiky, steps.size(),
                  humanise(*worst).text(), humanise(median).text(), title_of(grows)),
      suspect_of_spikes(grows), std::max(view.metrics.step_time - median, Seconds{})};
}

std::optional<Symptom> slow_rank(const View& view) {
  const Metrics& m = view.metrics;
  if (m.stragglers.empty() || saving(m, m.without_stragglers) < kWorthSaying) return {};
  return Symptom{"slow_rank", "some ranks are late, and the others wait for them",
                 straggler_sentence(m), "a straggler", m.step_time - m.without_stragglers};
}

/// The waits for a batch, by the place of the batch among the workers.
std::optional<Symptom> shallow_prefetch(const View& view) {
  const auto workers = static_cast<std::size_t>(workers_of(view.rank));
  if (workers < 2) return {};
  int batches = 0;  // batches of one step
  for (const Span& span : view.rank.spans) batches = std::max(batches, span.micro_batch + 1);
  std::vector<double> waits(workers);
  for (const Gap& gap : view.gaps) {
    if (gap.after->micro_batch < 0) continue;
    const int batch = gap.after->step * batches + gap.after->micro_batch;
    waits[static_cast<std::size_t>(batch) % workers] += waiting_for_input(gap.causes);
  }
  const double all = std::accumulate(waits.begin(), waits.end(), 0.0);
  const bool twice_around =
      static_cast<std::size_t>(batches * view.timeline.measured_steps()) >= 2 * workers;
  if (view.share(all) < kWorthSaying || !twice_around) return {};
  if (*std::ranges::max_element(waits) < kOneInN * all) return {};
  return Symptom{"shallow_prefetch",
                 fmt::format("the GPU waits for one batch in {} alone, and there are {} workers",
                             workers, workers),
                 amount(view, all), "workers in lockstep behind a prefetch that is too shallow",
                 view.per_step(all)};
}

/// The time in which the GPU has nothing to do but to wait for the next launch.
std::optional<Symptom> launch_gaps(const View& view) {
  const double gaps =
      of(partition(view.timeline, view.rank, view.from, view.to), Cause::launch_gap);
  if (view.share(gaps) < kWorthSaying) return {};
  return Symptom{"launch_gaps", "the GPU is idle between kernels, and the host launches the next",
                 amount(view, gaps),
                 "small kernels, or a host that launches slowly: blocking launches (host.mode), "
                 "host.anomaly_detection, more busy threads than host.cores",
                 view.per_step(gaps)};
}

const RankTimeline& busiest(const Timeline& timeline, double from, double to) {
  const RankTimeline* most = nullptr;
  double most_work = -1;
  for (const RankTimeline& rank : timeline.ranks) {
    const CauseSeconds causes = partition(timeline, rank, from, to);
    const double work = of(causes, Cause::forward) + of(causes, Cause::recompute) +
                        of(causes, Cause::backward) + of(causes, Cause::optimizer);
    if (work > most_work) {
      most = &rank;
      most_work = work;
    }
  }
  return *most;
}

using Rule = std::optional<Symptom> (*)(const View&);
constexpr std::array<Rule, 10> kRules = {late_start,  loss_gap,        busy_host, others_pause,
                                         launch_gaps, starvation,      long_tail, spikes,
                                         slow_rank,   shallow_prefetch};

}  // namespace

std::vector<Symptom> symptoms_of(const Timeline& timeline, const Metrics& metrics) {
  const double from = timeline.step_start(static_cast<std::size_t>(timeline.warmup));
  const double to = timeline.step_ends.back();
  View view{timeline, metrics, busiest(timeline, from, to), from, to, {}, {}, {}, {}, {}};
  view.host = host_work(view.rank);
  for (const Span* span : view.host) {
    if (timeline.names[span->name] == "read value") view.reads.push_back(span);
  }
  for (const Span& span : view.rank.spans) {
    if (view.rank.rows[span.row].kind == RowKind::loader) view.loaders.push_back(&span);
  }
  find_gaps(view);
  std::vector<Symptom> found;
  for (const Rule rule : kRules) {
    if (auto symptom = rule(view)) found.push_back(std::move(*symptom));
  }
  return found;
}

}  // namespace stepsim
