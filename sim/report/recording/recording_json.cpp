// What a recording shows, as JSON.
#include "sim/report/json_number.hpp"
#include "sim/report/recording/recording_report.hpp"

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

Json whole(const std::optional<int>& value) { return value ? Json(*value) : Json(); }

Json rank_json(const Observation& seen) {
  return {{"rank", whole(seen.rank)},
          {"file", seen.file},
          {"device", text_or_null(seen.device)},
          {"window_s", seconds_json(seen.window.length())},
          {"busy_s", seconds_json(seen.gpu.busy)},
          {"compute_s", seconds_json(seen.gpu.compute)},
          {"communication_s", seconds_json(seen.gpu.communication)},
          {"copies_s", seconds_json(seen.gpu.copies)},
          {"communication_and_compute_s", seconds_json(seen.gpu.communication_and_compute)},
          {"exposed_communication_s", seconds_json(seen.gpu.exposed_communication())},
          {"idle_s", idle_json(seen.idle.causes)},
          {"late_host_s", host_json(seen.idle.late_host)},
          {"idle_not_known_s", doubts_json(seen.idle.doubts)},
          {"activities", seen.activities},
          {"steps", list_json(seen.steps, step_json)},
          {"longest_late_gaps", list_json(seen.late_gaps, gap_json)},
          {"kinds", list_json(seen.kinds, kind_json)},
          {"kernels", list_json(seen.kernels, kernel_json)}};
}

}  // namespace

std::string to_json(const Observation& seen) {
  const RecordingVerdict verdict = verdict_of(seen);
  return json_text({{"schema", "stepsim.recording/1"},
                    {"format", seen.format},
                    {"backend", text_or_null(seen.backend)},
                    {"world_size", whole(seen.world_size)},
                    {"ranks", Json::array({rank_json(seen)})},
                    {"not_known", seen.not_known},
                    {"verdict", {{"sentence", verdict.sentence}, {"next", verdict.next}}}});
}

}  // namespace stepsim
