// A trace of stepsim as JSON.
#include <fmt/format.h>

#include "sim/recording/observation.hpp"
#include "sim/recording/simulated/rank_time.hpp"
#include "sim/report/recording/simulated_report.hpp"
#include "sim/report/run/result_json.hpp"
#include "sim/timeline/partition.hpp"

namespace stepsim {
namespace {

Json time_json(Nanoseconds time) { return number(seconds_of(time)); }

/// When a step, numbered from 0 on, begins and ends.
Interval window_of(const Timeline& timeline, std::size_t step) {
  return {nanoseconds_of(timeline.step_start(step)), nanoseconds_of(timeline.step_ends[step])};
}

Json step_json(const GpuRows& rows, const Timeline& timeline, std::size_t step) {
  const Interval window = window_of(timeline, step);
  const GpuTime gpu = gpu_time(rows, window);
  return {{"name", fmt::format("step {}", step)},
          {"seconds", time_json(window.length())},
          {"busy_s", time_json(gpu.busy)},
          {"compute_s", time_json(gpu.compute)},
          {"communication_s", time_json(gpu.communication)},
          {"exposed_communication_s", time_json(gpu.exposed_communication())}};
}

/// The causes of a mean step.
CauseSeconds mean_causes(const Timeline& timeline, const RankTimeline& rank) {
  const auto first = static_cast<std::size_t>(timeline.warmup);
  CauseSeconds causes =
      partition(timeline, rank, timeline.step_start(first), timeline.step_ends.back());
  for (double& seconds : causes) seconds /= timeline.measured_steps();
  return causes;
}

Json collective_json(const GroupCommunication& group) {
  return {{"axis", name_of(group.axis)},
          {"bytes", number(group.bytes)},
          {"busy_s", number(group.busy)},
          {"exposed_s", number(group.exposed)}};
}

Json rank_json(const RankTimeline& rank, const Timeline& timeline) {
  const auto first = static_cast<std::size_t>(timeline.warmup);
  const double from = timeline.step_start(first), to = timeline.step_ends.back();
  const Interval window{nanoseconds_of(from), nanoseconds_of(to)};
  const GpuRows rows = gpu_rows(rank);
  const GpuTime gpu = gpu_time(rows, window);
  Json steps = Json::array();
  for (std::size_t step = first; step < timeline.step_ends.size(); ++step)
    steps.push_back(step_json(rows, timeline, step));
  return {{"rank", rank.rank},
          {"stage", rank.stage},
          {"stands_for", rank.multiplicity},
          {"window_s", time_json(window.length())},
          {"busy_s", time_json(gpu.busy)},
          {"compute_s", time_json(gpu.compute)},
          {"communication_s", time_json(gpu.communication)},
          {"copies_s", time_json(gpu.copies)},
          {"communication_and_compute_s", time_json(gpu.communication_and_compute)},
          {"exposed_communication_s", time_json(gpu.exposed_communication())},
          {"breakdown_s", causes_json(mean_causes(timeline, rank))},
          {"activities", rank.spans.size()},
          {"steps", steps}};
}

}  // namespace

std::string to_json(const SimulatedTrace& trace, const Metrics& m) {
  const auto rank = [&](const RankTimeline& of) { return rank_json(of, trace.timeline); };
  return json_text({{"schema", "stepsim.recording/1"},
                    {"format", "stepsim " + trace.head.version},
                    {"scenario", trace.head.scenario},
                    {"level", trace.head.level},
                    {"world_size", m.gpus},
                    {"step_time_s", number(m.step_time)},
                    {"steps_s", seconds_json(m.steps)},
                    {"breakdown_s", causes_json(m.breakdown)},
                    {"critical_path_s", causes_json(m.critical)},
                    {"ranks", list_json(trace.timeline.ranks, rank)},
                    {"stragglers", stragglers_json(m.stragglers)},
                    {"collectives", list_json(m.communication, collective_json)},
                    {"not_known", trace.not_known},
                    {"verdict", verdict_json(m.verdict)}});
}

}  // namespace stepsim
