// What a recording shows, as JSON.
#include <algorithm>
#include <array>

#include "sim/report/json_number.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "sim/report/recording/replay_report.hpp"

namespace stepsim {
namespace {

Json seconds_json(Nanoseconds time) { return number(seconds_of(time)); }

Json idle_json(const IdleCauses& idle) {
  return {{"tiny", seconds_json(idle.tiny)},
          {"queued", seconds_json(idle.queued)},
          {"late_host", seconds_json(idle.late_host)},
          {"launch_latency", seconds_json(idle.launch_latency)},
          {"tail", seconds_json(idle.tail)},
          {"unmatched", seconds_json(idle.unmatched)}};
}

Json host_json(const HostStates& host) {
  return {{"sync", seconds_json(host.sync)},
          {"loader", seconds_json(host.loader)},
          {"runtime", seconds_json(host.runtime)},
          {"operator", seconds_json(host.operation)},
          {"python", seconds_json(host.python)}};
}

/// What a late host did beside waiting; parts of `late_host_s` and of other idle time.
Json pauses_json(const Breakdown& breakdown) {
  return {{"garbage_collection", seconds_json(breakdown.of(Cause::garbage_collection))},
          {"recompilation", seconds_json(breakdown.of(Cause::recompilation))},
          {"in_operators", seconds_json(breakdown.pauses_in_operations)}};
}

Json doubts_json(const IdleDoubts& doubts) {
  return {{"graph_replays", seconds_json(doubts.graph_replays)},
          {"long_waits", seconds_json(doubts.long_waits)}};
}

Json step_json(const ObservedStep& step) {
  return {{"name", step.name},
          {"seconds", seconds_json(step.window.length())},
          {"busy_s", seconds_json(step.gpu.busy)},
          {"compute_s", seconds_json(step.gpu.compute)},
          {"communication_s", seconds_json(step.gpu.communication)},
          {"exposed_communication_s", seconds_json(step.gpu.exposed_communication())},
          {"launched_busy_s", seconds_json(step.launched_busy)}};
}

Json gap_json(const ObservedGap& gap) {
  return {{"at_s", number(gap.at_s)},
          {"seconds", number(gap.seconds)},
          {"late_s", number(gap.late_s)},
          {"before", gap.before}};
}

Json kind_json(const KernelTime& kind) {
  return {{"kind", kind.name}, {"calls", kind.calls}, {"seconds", number(kind.seconds)}};
}

Json kernel_json(const KernelTime& kernel) {
  return {{"name", kernel.name},
          {"kind", name_of(kernel.kind)},
          {"calls", kernel.calls},
          {"seconds", number(kernel.seconds)}};
}

Json copy_json(const CopyTime& copy) {
  return {{"name", copy.name},
          {"calls", copy.calls},
          {"seconds", number(copy.seconds)},
          {"bytes", copy.bytes > 0 ? number(copy.bytes) : Json()}};
}

Json product_json(const ProductTime& time) {
  return {{"size", time.title},
          {"precision", name_of(time.precision)},
          {"calls", time.calls},
          {"seconds", number(time.seconds)},
          {"flops", number(time.flops.flops())},
          {"attainable_s", time.attainable ? number(time.attainable->seconds()) : Json()}};
}

/// Products whose sizes were recorded, and the share of the GPU's peak that they come to.
Json products_json(const Products& products, double window_s) {
  const auto utilisation = hardware_flops_utilisation(products, window_s);
  return {{"profile", text_or_null(products.profile)},
          {"flops", number(products.flops.flops())},
          {"seconds", number(products.known_s())},
          {"seconds_of_unknown_size", number(products.unknown_s)},
          {"hfu", utilisation ? number(*utilisation) : Json()},
          {"sizes", list_json(products.times, product_json)}};
}

Json whole(const std::optional<int>& value) { return value ? Json(*value) : Json(); }

Json memory_json(const std::optional<RecordedMemory>& memory) {
  if (!memory) return Json();
  return {{"allocated_bytes", number(memory->allocated_bytes)},
          {"reserved_bytes", number(memory->reserved_bytes)}};
}

Json breakdown_json(const Observation& seen) {
  const double steps = static_cast<double>(std::max<std::size_t>(1, seen.steps.size()));
  Json causes = causes_json(mean_step_causes(seen));
  causes["not_known"] = number(seconds_of(seen.breakdown.not_known) / steps);
  return causes;
}

const char* word_of(IdleKind kind) {
  switch (kind) {
    case IdleKind::late_sync:
      return "sync";
    case IdleKind::late_loader:
      return "loader";
    case IdleKind::late_runtime:
      return "runtime";
    case IdleKind::late_operation:
      return "operator";
    default:
      return "python";
  }
}

Json site_json(const LateSite& site) {
  return {
      {"state", word_of(site.kind)},           {"operator", text_or_null(site.place.operation)},
      {"call", text_or_null(site.place.call)}, {"annotation", text_or_null(site.place.annotation)},
      {"line", text_or_null(site.place.line)}, {"times", site.times},
      {"seconds", seconds_json(site.idle)}};
}

Json sites_json(const Observation& seen) {
  constexpr std::size_t kListed = 20;
  Json sites = Json::array();
  for (std::size_t i = 0; i < std::min(kListed, seen.late_sites.size()); ++i)
    sites.push_back(site_json(seen.late_sites[i]));
  return sites;
}

Json rank_json(const Observation& seen, const ClockShift& clock) {
  return {{"rank", whole(seen.rank)},
          {"file", seen.file},
          {"device", text_or_null(seen.device)},
          {"is_of_core", seen.is_of_core},
          {"window_s", seconds_json(seen.window.length())},
          {"busy_s", seconds_json(seen.gpu.busy)},
          {"compute_s", seconds_json(seen.gpu.compute)},
          {"communication_s", seconds_json(seen.gpu.communication)},
          {"copies_s", seconds_json(seen.gpu.copies)},
          {"communication_and_compute_s", seconds_json(seen.gpu.communication_and_compute)},
          {"exposed_communication_s", seconds_json(seen.gpu.exposed_communication())},
          {"idle_s", idle_json(seen.idle.causes)},
          {"late_host_s", host_json(seen.idle.late_host)},
          {"pauses_s", pauses_json(seen.breakdown)},
          {"idle_not_known_s", doubts_json(seen.idle.doubts)},
          {"breakdown_s", breakdown_json(seen)},
          {"clock_shift_s", clock.shift ? seconds_json(*clock.shift) : Json()},
          {"activities", seen.activities},
          {"steps", list_json(seen.steps, step_json)},
          {"late_sites", sites_json(seen)},
          {"longest_late_gaps", list_json(seen.late_gaps, gap_json)},
          {"memory", memory_json(seen.memory)},
          {"copies", list_json(seen.copies, copy_json)},
          {"products", products_json(seen.products, seconds_of(seen.window.length()))},
          {"kinds", list_json(seen.kinds, kind_json)},
          {"kernels", list_json(seen.kernels, kernel_json)}};
}

Json ranks_json(const RecordedJob& job) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < job.ranks.size(); ++i)
    ranks.push_back(rank_json(job.ranks[i], job.clocks.ranks[i]));
  return ranks;
}

Json collective_json(const ObservedCollective& collective) {
  return {{"operation", collective.operation},
          {"axis", name_of(collective.axis)},
          {"group", text_or_null(collective.group)},
          {"group_size", collective.group_size > 0 ? Json(collective.group_size) : Json()},
          {"calls", number(collective.calls)},
          {"bytes", collective.bytes > 0 ? number(collective.bytes) : Json()},
          {"seconds", number(collective.seconds)},
          {"exposed_s", number(collective.exposed_s)},
          {"waiting_s", collective.knows_waiting ? number(collective.waiting_s) : Json()},
          {"bus_bytes_per_s",
           collective.bus_bytes_per_s > 0 ? number(collective.bus_bytes_per_s) : Json()},
          {"is_lower_bound", collective.is_lower_bound}};
}

const char* word_of(OwnWork work) {
  constexpr std::array<const char*, kOwnWorks> kWords{"kernels", "copies", "loader",
                                                      "sync",    "host",   "not_known"};
  return kWords.at(static_cast<std::size_t>(work));
}

Json straggler_json(const LateRank& late) {
  return {{"ranks", Json::array({whole(late.rank)})},
          {"late_s", number(late.late_s)},
          {"alone_s", number(late.alone_s)},
          {"reason", word_of(late.reason)},
          {"reason_s", number(late.reason_s)},
          {"why", sentence_of(late)},
          {"kernels", number(late.kernels)},
          {"kernels_of_others", number(late.kernels_of_others)},
          {"before_s", number(late.before_s)},
          {"last_at", late.last_at},
          {"of_collectives", late.of_collectives},
          {"is_stable", late.is_stable},
          {"by_step_s", list_json(late.by_step_s, [](double s) { return number(s); })}};
}

Json clocks_json(const RecordedJob& job) {
  return {{"residual_s", seconds_json(job.clocks.residual)},
          {"binding_collectives", job.clocks.binding},
          {"joined_collectives", job.joined},
          {"unmatched_collectives", job.unmatched}};
}

}  // namespace

std::string to_json(const RecordedJob& job, const std::optional<Replay>& replay) {
  const Observation& pace = job.pace_rank();
  const RecordingVerdict verdict = verdict_of(job);
  const double steps = static_cast<double>(pace.steps.size());
  return json_text(
      {{"schema", "stepsim.recording/1"},
       {"path", job.path},
       {"format", pace.format},
       {"backend", text_or_null(pace.backend)},
       {"world_size", whole(pace.world_size)},
       {"step_time_s",
        pace.steps.empty() ? Json() : number(seconds_of(pace.window.length()) / steps)},
       {"pace_rank", whole(pace.rank)},
       {"breakdown_s", breakdown_json(pace)},
       {"ranks", ranks_json(job)},
       {"collectives", list_json(job.collectives, collective_json)},
       {"clocks", clocks_json(job)},
       {"stragglers", list_json(job.late_ranks, straggler_json)},
       {"replay", replay_json(replay)},
       {"what_if", what_if_json(replay)},
       {"not_known", all_not_known(job)},
       {"verdict",
        {{"sentence", verdict.sentence},
         {"next", verdict.next},
         {"gain", replay ? text_or_null(gain_sentence(*replay, verdict.change)) : Json()}}}});
}

}  // namespace stepsim
