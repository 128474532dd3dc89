// What holds recorded steps up: the largest part of the window in which the GPU does not compute.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/report/recording/recording_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// Below this share of the window nothing is worth a change (the rule of TensorBoard's plugin for
/// its loader).
constexpr double kWorthwhile = 0.05;

/// Above this share a GPU is bound by its kernels, whatever the rest is.
constexpr double kMostlyComputing = 0.8;

/// A second cause is named above this share, where it is at least half of the first (judgement).
constexpr double kWorthSecond = 0.1;

struct Part {
  Nanoseconds time;
  const char* name;   ///< "data-bound"
  const char* waits;  ///< what the GPU does meanwhile
  const char* next;
  const char* change = "";  ///< what is replayed without it
};

/// Waiting in collectives and transfers, without what is known to be waiting for a member.
Nanoseconds exposed_time(const Breakdown& breakdown) {
  Nanoseconds sum = 0;
  for (const Axis axis : kAllAxes) sum += breakdown.of(exposed(axis));
  return sum;
}

/// By the kind of copy that takes most.
const char* next_for_copies(const Observation& seen) {
  const std::string name = seen.copies.empty() ? "" : seen.copies.front().name;
  if (copies_from_gpu(name)) return "look what copies results to the host, and how often";
  if (!copies_to_gpu(name))
    return "look what copies tensors within the GPU: contiguous(), cat() and clone(), or buffers "
           "of "
           "the framework";
  return name.find("Pageable") == name.npos
             ? "copy earlier, beside computation: prefetch batches and offloaded parameters"
             : "pinned memory, non_blocking=True and prefetching to the GPU";
}

/// Calls that allocate, free and load: at the start of a run, or in each step where memory is short.
bool sets_up(std::string_view call) {
  static constexpr std::array<std::string_view, 8> kWords{
      "Malloc",     "Free",        "StreamCreate", "EventCreate",
      "ModuleLoad", "LibraryLoad", "HostAlloc",    "HostRegister"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return call.find(word) != call.npos; });
}

Nanoseconds set_up_time(const Observation& seen) {
  Nanoseconds time = 0;
  for (const LateSite& site : seen.late_sites) {
    if (site.kind == IdleKind::late_runtime && sets_up(site.place.call)) time += site.idle;
  }
  return time;
}

bool has_stacks(const Observation& seen) {
  return std::ranges::any_of(seen.late_sites,
                             [](const LateSite& site) { return !site.place.line.empty(); });
}

std::array<Part, 13> parts_of(const Observation& seen) {
  const IdleCauses& idle = seen.idle.causes;
  const HostStates& host = seen.idle.late_host;
  const IdleDoubts& doubts = seen.idle.doubts;
  const Nanoseconds collecting = seen.breakdown.of(Cause::garbage_collection);
  const Nanoseconds compiling = seen.breakdown.of(Cause::recompilation);
  const Nanoseconds setting_up = set_up_time(seen);
  return {{
      {host.loader, "data-bound", "waits for the loader, which hands over batches too late",
       "more workers of the DataLoader, a deeper prefetch, or less work for each sample", "loader"},
      {host.sync, "sync-bound", "waits for its host, which waits for it in a synchronising call",
       "look for .item(), .cpu(), nonzero() and prints of tensors in the step",
       seen.is_of_core ? "reads" : "wait"},
      {setting_up, "bound by setting up", "waits for calls that allocate, free or load",
       "record later, behind a warm-up; where each step has them, memory is short: a smaller "
       "batch, "
       "or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
      {host.operation - seen.breakdown.pauses_in_operations + host.runtime - setting_up +
           idle.launch_latency - doubts.of_launch_latency,
       "launch-bound", "waits for operators and launches of the host",
       "fewer and larger kernels: torch.compile, fused optimizers, CUDA graphs, larger "
       "micro-batches",
       "launches"},
      {collecting, "bound by garbage collection", "waits for Python's collector",
       "gc.disable() or gc.freeze() once the model is built, and gc.collect() at the same step on "
       "all ranks",
       "garbage_collection"},
      {compiling, "bound by recompilation", "waits for torch.compile",
       "keep shapes fixed, or mark_dynamic() what changes; TORCH_LOGS=recompiles says why",
       "recompilation"},
      {host.python - (collecting + compiling - seen.breakdown.pauses_in_operations), "host-bound",
       "waits for Python, or for what it calls between operators",
       has_stacks(seen)
           ? "look what Python does at the lines where the host is late"
           : "record once more with with_stack=True, and look what Python does in the longest gaps",
       "launches"},
      {exposed_time(seen.breakdown), "communication-bound", "communicates and computes nothing",
       "overlap it with computation, or record all ranks into one folder: the time may be waiting "
       "for a late one",
       "network"},
      {seen.gpu.exposed_communication() - exposed_time(seen.breakdown), "straggler-bound",
       "waits for other ranks", "look which ranks come last, and why"},
      {seen.gpu.copies_alone(), "copy-bound", "copies and computes nothing", next_for_copies(seen),
       "input"},
      {idle.queued - doubts.of_queued, "queue-bound", "waits for events of other streams",
       "look which stream the next kernels wait for"},
      {idle.tiny, "bound by small kernels", "changes from one kernel to the next",
       "fewer and larger kernels: torch.compile, fused optimizers"},
      {idle.unmatched + idle.tail + doubts.of_queued + doubts.of_launch_latency, "not known",
       "may be idle, where launches or kernels were not recorded",
       "record more steps, with ProfilerActivity.CPU and a warm-up, and without CUDA graphs"},
  }};
}

double share_of(const Observation& seen, Nanoseconds time) {
  return seconds_of(time) / seconds_of(seen.window.length());
}

/// Where most of such idle time is, as in "; 2.45 s of it in aten::item, train.py(132): loss_of".
std::string most_at(const Observation& seen, IdleKind kind) {
  const auto site = std::ranges::find(seen.late_sites, kind, &LateSite::kind);
  if (site == seen.late_sites.end()) return "";
  std::string where;
  for (const std::string& part : {site->place.operation, site->place.line}) {
    if (!part.empty()) where += (where.empty() ? "" : ", ") + part;
  }
  if (where.empty()) return "";
  return fmt::format("; {} of it in {}", humanise(Seconds{seconds_of(site->idle)}).text(), where);
}

/// What a late host did, where a part of the time is one state of it.
std::optional<IdleKind> state_of(std::string_view part) {
  if (part == "sync-bound") return IdleKind::late_sync;
  if (part == "host-bound") return IdleKind::late_python;
  return std::nullopt;
}

/// How fast the products are, where the GPU's profile knows all of them.
std::string products_words(const Products& products) {
  const ComparedProducts compared = compared_products(products);
  if (compared.share < kMostlyKnown) return "";
  return fmt::format(
      "; its products of matrices take {:.2g} times as long as the profile {} has "
      "for them",
      compared.seconds / compared.attainable.seconds(), products.profile);
}

/// What else holds it up, and not much less.
std::string runner_up(const Observation& seen, const std::array<Part, 13>& parts,
                      const Part& worst) {
  const Part* second = nullptr;
  for (const Part& part : parts) {
    if (&part != &worst && (second == nullptr || part.time > second->time)) second = &part;
  }
  const double share = share_of(seen, second->time);
  if (share < kWorthSecond || 2 * second->time < worst.time) return "";
  return fmt::format("; then it {} ({})", second->waits, percent(share));
}

double mean_step(const Observation& seen) {
  return seconds_of(seen.window.length()) /
         static_cast<double>(std::max<std::size_t>(1, seen.steps.size()));
}

const char* next_for(OwnWork reason) {
  switch (reason) {
    case OwnWork::kernels:
      return "compare it with the others: clocks, temperature, power, memory errors; or give it "
             "less "
             "work";
    case OwnWork::copies:
      return "look at its PCIe link, and at what else uses it";
    case OwnWork::loader:
      return "look at its loader: its share of the files, its disk, its CPUs";
    case OwnWork::sync:
      return "look for .item() and .cpu() that only this rank calls";
    case OwnWork::host:
      return "look at its host: other processes, CPU clocks, affinity, logging";
    case OwnWork::not_known:
    case OwnWork::count_:
      break;
  }
  return "record more steps of all ranks";
}

/// Nothing where others hardly wait for it.
std::optional<RecordingVerdict> late_verdict(const RecordedJob& job, double worst_share) {
  if (job.late_ranks.empty()) return std::nullopt;
  const LateRank& late = job.late_ranks.front();
  const double step = mean_step(job.pace_rank());
  if (late.late_s < std::max(kWorthwhile, worst_share / 2) * step) return std::nullopt;
  const bool is_older = late.before_s > late.late_s / 2;
  return RecordingVerdict{
      fmt::format(
          "straggler-bound: the others wait for rank {} for {} of a step ({}); {}",
          late.rank.value_or(0), humanise(Seconds{late.late_s}).text(), percent(late.late_s / step),
          is_older ? "it was late already when the recording began" : words_of(late.reason)),
      is_older ? "record more steps of all ranks" : next_for(late.reason), "straggler"};
}

}  // namespace

RecordingVerdict verdict_of(const RecordedJob& job) {
  const Observation& seen = job.pace_rank();
  if (seen.window.length() == 0 || seen.gpu.busy == 0)
    return {"nothing can be said: no work of a GPU was recorded",
            "record with ProfilerActivity.CUDA, on a machine with a GPU", ""};
  const char* device = seen.is_of_core ? "core" : "GPU";
  const auto parts = parts_of(seen);
  const auto worst = std::ranges::max_element(parts, {}, &Part::time);
  const double worst_share = share_of(seen, worst->time);
  if (const auto late = late_verdict(job, worst_share)) return *late;
  const double computes = share_of(seen, seen.gpu.compute);
  if (worst_share < kWorthwhile || computes > kMostlyComputing)
    return {fmt::format("compute-bound: the {} computes {} of the time{}", device,
                        percent(share_of(seen, seen.gpu.compute)), products_words(seen.products)),
            "the kernels themselves: the kinds that take most are above", "products"};
  const auto state = state_of(worst->name);
  return {fmt::format("{}: the {} {} for {} of the time{}{}", worst->name, device, worst->waits,
                      percent(worst_share), state ? most_at(seen, *state) : "",
                      runner_up(seen, parts, *worst)),
          worst->next, worst->change};
}

}  // namespace stepsim
