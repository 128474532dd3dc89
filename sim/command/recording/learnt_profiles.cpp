// Puts predicted kernels beside recorded families, and writes the profiles that follow.
#include "sim/command/recording/learnt_profiles.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/calibrate/profile/cpu_profile.hpp"
#include "sim/calibrate/profile/nearest_gpu.hpp"
#include "sim/calibrate/profile/stated_sources.hpp"
#include "sim/report/recording/against.hpp"
#include "sim/report/recording/predicted_kernels.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// Judgement: a host that is late so seldom may have been waited for by nobody.
constexpr double kOftenLate = 0.05;
/// Judgement: known machines with their scenarios are not so far off.
constexpr double kFarOff = 3;
constexpr double kWorthwhile = 0.01;  // of the step, as for kernels

std::size_t steps_of(const Observation& seen) {
  return std::max<std::size_t>(1, seen.steps.size());
}

std::string origin_of(const RecordedJob& job) {
  const Observation& seen = job.pace_rank();
  std::string file = std::filesystem::path(job.path).filename().string();
  if (file.empty()) file = std::filesystem::path(job.path).parent_path().filename().string();
  return fmt::format("{} ({}, {} step{})", file, seen.device.empty() ? "a GPU" : seen.device,
                     steps_of(seen), steps_of(seen) == 1 ? "" : "s");
}

RateGroup group_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::gemm:
      return RateGroup::gemm;
    case KernelFamily::attention:
      return RateGroup::attention;
    case KernelFamily::convolution:
      return RateGroup::convolution;
    case KernelFamily::norm:
      return RateGroup::norm;
    case KernelFamily::softmax:
      return RateGroup::softmax;
    case KernelFamily::loss:
      return RateGroup::loss;
    case KernelFamily::optimizer:
      return RateGroup::optimizer;
    default:
      return RateGroup::elementwise;
  }
}

std::vector<RecordedGroup> groups_of(const Answer& answer, const OpGraph& graph,
                                     const RecordedJob& job) {
  const Observation& seen = job.pace_rank();
  const FamilyTimes mean = recorded_account(job).families;
  std::vector<RecordedGroup> groups(kFamilies);
  for (std::size_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<KernelFamily>(i);
    groups[i].title = title_of(family);
    groups[i].group = group_of(family);
    if (seen.typical.steps < 2) groups[i].recorded_s = mean[i].seconds;
  }
  for (std::size_t i = 0; seen.typical.steps >= 2 && i < seen.typical.kinds.size(); ++i) {
    const auto kind = static_cast<KernelKind>(i);
    groups[static_cast<std::size_t>(family_of(kind))].recorded_s += seen.typical.kinds[i];
  }
  for (const FamilyKernel& kernel : predicted_kernels(answer.metrics, graph, answer.simulation))
    groups[static_cast<std::size_t>(kernel.family)].kernels.push_back(
        {kernel.work, kernel.seconds, kernel.calls});
  return groups;
}

double between_operators(const Answer& answer, const Observation& seen) {
  if (!seen.is_of_core) return 0;
  constexpr auto kGap = static_cast<std::size_t>(Cause::launch_gap);
  const double recorded =
      seen.typical.steps >= 2 ? seen.typical.between_s : mean_step_causes(seen)[kGap];
  return std::max(0.0, recorded - answer.metrics.breakdown[kGap]);
}

GpuDraft gpu_draft(const Scenario& scenario, const std::string& name, const Library& library) {
  GpuDraft draft;
  draft.profile = scenario.cluster.gpu;
  draft.base = scenario.cluster.gpu.name;
  draft.profile.name = name;
  draft.profile.changes.clear();
  draft.sources = stated_gpu_sources(draft.base, library);
  return draft;
}

std::string title_of(const LearntProfiles& learnt, const std::string& base,
                     const std::string& changes) {
  return fmt::format("As {}{}, with times of {}, by stepsim calibrate trace.",
                     base.empty() ? "the scenario's link" : base,
                     changes.empty() ? "" : fmt::format(" with the scenario's {}", changes),
                     learnt.origin);
}

void learn_kernels(const Scenario& scenario, const Answer& answer, const RecordedJob& job,
                   const Library& library, LearntProfiles& learnt) {
  const Observation& seen = job.pace_rank();
  GpuDraft draft = gpu_draft(scenario, learnt.name, library);
  learnt.between_s = between_operators(answer, seen);
  learnt.groups = scale_to_recorded(groups_of(answer, build(scenario), job), learnt.between_s,
                                    learnt.origin, draft);
  learnt.gpu_text = profile_yaml(
      draft.profile, title_of(learnt, learnt.base, scenario.cluster.gpu.changes), draft.sources);
  if (seen.is_of_core) learnt.gpu_text = without_architecture(learnt.gpu_text);
  check_readable(draft.profile, parse_gpu(learnt.gpu_text, learnt.name + ".yaml"));
}

/// Seconds of a step's collectives on the slowest rank.
double predicted_collectives(const Answer& answer) {
  const Timeline& timeline = answer.simulation.timeline;
  const RankTimeline& rank = slowest_rank(answer.metrics, timeline);
  double seconds = 0;
  for (const Span& span : rank.spans) {
    if (span.step >= timeline.warmup && span.message == 0 &&
        rank.rows[span.row].kind == RowKind::communication)
      seconds += span.end - span.start;
  }
  return seconds / timeline.measured_steps();
}

/// The shortest times of the collectives of each step that the rank takes part in, in their order.
using TimesByStep = std::map<std::string, std::vector<double>>;

TimesByStep shortest_by_step(const RecordedJob& job, std::set<std::string>& operations) {
  TimesByStep by_step;
  for (const JoinedCollective& collective : join_collectives(job.ranks).all) {
    double shortest = std::numeric_limits<double>::infinity();
    bool is_here = false;
    for (const JoinedCall& member : collective.members) {
      const auto& calls = job.ranks[member.rank].communication.calls;
      shortest = std::min(shortest, seconds_of(calls[member.call].time.length()));
      is_here = is_here || member.rank == job.pace;
    }
    if (!is_here) continue;
    operations.insert(collective.kind.operation);
    by_step[collective.step].push_back(shortest);
  }
  return by_step;
}

/// Seconds that a step spends in collectives: the mean of all steps; on a core, whose time others
/// may use, the sum of the least at each place, where all steps have as many.
double recorded_collectives(const TimesByStep& by_step, bool is_of_core) {
  if (by_step.empty()) return 0;
  const std::size_t size = by_step.begin()->second.size();
  const bool are_alike =
      std::ranges::all_of(by_step, [&](const auto& step) { return step.second.size() == size; });
  if (is_of_core && are_alike) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (const auto& [step, times] : by_step) least = std::min(least, times[i]);
      sum += least;
    }
    return sum;
  }
  double sum = 0;
  for (const auto& [step, times] : by_step) {
    for (const double time : times) sum += time;
  }
  return sum / static_cast<double>(by_step.size());
}

/// Seconds of collectives in a step of a mean rank, with what it waits for others.
double all_collectives(const RecordedJob& job) {
  double seconds = 0;
  for (const ObservedCollective& collective : job.collectives) seconds += collective.seconds;
  return seconds / static_cast<double>(steps_of(job.pace_rank()));
}

std::string why_no_link(const Scenario& scenario, const RecordedJob& job,
                        const ScaledGroup& collectives, double step_s) {
  if (collectives.predicted_s <= 0) return "the prediction has none";
  if (scenario.cluster.nodes > 1)
    return "several nodes: what links within one take is not told from what others take";
  if (job.ranks.size() < 2)
    return "one rank does not tell transferring from waiting for others: record every rank";
  if (collectives.recorded_s <= 0) return "the recordings have none that belong together";
  if (std::max(collectives.predicted_s, collectives.recorded_s) < kWorthwhile * step_s)
    return "less than a hundredth of the step";
  return "";
}

LinkDraft link_draft(const LinkProfile& link, const std::string& name, const Library& library) {
  LinkDraft draft;
  draft.profile = link;
  draft.base = link.name;
  draft.profile.name = name;
  draft.profile.changes.clear();
  if (link.name.empty()) {
    draft.derive_from("the scenario's link");
  } else {
    draft.sources = stated_link_sources(link.name, library);
  }
  return draft;
}

void learn_links(const Scenario& scenario, const Answer& answer, const RecordedJob& job,
                 const Library& library, LearntProfiles& learnt) {
  std::set<std::string> operations;
  ScaledGroup& collectives = learnt.collectives;
  collectives.title = "collectives";
  collectives.predicted_s = predicted_collectives(answer);
  collectives.recorded_s =
      recorded_collectives(shortest_by_step(job, operations), job.pace_rank().is_of_core);
  if (job.ranks.size() < 2) collectives.recorded_s = all_collectives(job);
  collectives.reason = why_no_link(scenario, job, collectives, answer.metrics.step_time.seconds());
  if (!collectives.reason.empty()) return;
  collectives.factor = collectives.recorded_s / collectives.predicted_s;
  LinkDraft draft = link_draft(scenario.cluster.intra_node, learnt.name, library);
  collectives.constants =
      scale_link(collectives.factor, {operations.begin(), operations.end()}, learnt.origin, draft);
  learnt.link_text =
      profile_yaml(draft.profile, title_of(learnt, draft.base, scenario.cluster.intra_node.changes),
                   draft.sources);
  check_readable(draft.profile, parse_link(learnt.link_text, learnt.name + ".yaml"));
}

std::string why_no_pace(const Scenario& scenario, const Observation& seen) {
  if (seen.is_of_core) return "a core runs its kernels by calls";
  if (seen.launch_pace.launches == 0) return "no launches were recorded";
  if (seen.launch_pace.has_graphs || scenario.host.graph())
    return "graphs launch many kernels at once";
  const HostStates& late = seen.idle.late_host;
  const double share =
      seconds_of(late.runtime + late.operation + late.python) / seconds_of(seen.window.length());
  if (share < kOftenLate)
    return fmt::format("the host is late for {:.1f} % of the time only: its pace does not show",
                       100 * share);
  return "";
}

void learn_host(const Scenario& scenario, const Answer& answer, const Observation& seen,
                LearntProfiles& learnt) {
  learnt.launch_reason = why_no_pace(scenario, seen);
  double launches = 0;
  for (const FamilyKernel& kernel :
       predicted_kernels(answer.metrics, build(scenario), answer.simulation))
    launches += kernel.calls;
  if (!learnt.launch_reason.empty() || launches <= 0) return;
  const double recorded = static_cast<double>(steps_of(seen)) * launches;
  learnt.launch = fit::rounded(Seconds{seen.launch_pace.unrecorded_seconds() / recorded}, 1e-6);
  learnt.launch_recorded = fit::rounded(Seconds{seen.launch_pace.seconds / recorded}, 1e-6);
}

}  // namespace

LearntProfiles learn(const Scenario& scenario, const Answer& answer, const RecordedJob& job,
                     const std::string& name, const Library& library) {
  const Observation& seen = job.pace_rank();
  if (seen.is_of_core && scenario.cluster.gpu.sms > 1)
    throw UserError(
        fmt::format("{}: this recording is of a CPU, and the scenario of {}: name the scenario of "
                    "its run, with a profile of stepsim calibrate cpu",
                    job.path, scenario.cluster.gpu.name));
  LearntProfiles learnt{.base = scenario.cluster.gpu.name,
                        .name = name,
                        .origin = origin_of(job),
                        .not_known = all_not_known(job)};
  if (!seen.device.empty() && !seen.is_of_core && !is_named(seen.device, learnt.base))
    learnt.not_known.push_back(
        fmt::format("The recording is of '{}', the scenario of {}: is it the scenario of this run?",
                    seen.device, learnt.base));
  const double predicted_s = answer.metrics.step_time.seconds();
  const double recorded_s = seconds_of(seen.window.length()) / static_cast<double>(steps_of(seen));
  if (std::max(recorded_s / predicted_s, predicted_s / recorded_s) > kFarOff)
    learnt.not_known.push_back(fmt::format(
        "The recorded step takes {} and the predicted one {}: is it the scenario of this run? "
        "Constants of another one are worth nothing.",
        humanise(Seconds{recorded_s}).text(), humanise(Seconds{predicted_s}).text()));
  learn_kernels(scenario, answer, job, library, learnt);
  learn_links(scenario, answer, job, library, learnt);
  learn_host(scenario, answer, seen, learnt);
  const bool is_any =
      std::ranges::any_of(learnt.groups, [](const ScaledGroup& group) { return group.factor > 0; });
  if (!is_any)
    throw UserError(fmt::format(
        "{}: no family of kernels is both in this recording and in the prediction: is it the "
        "scenario of this run? stepsim compare shows both",
        job.path));
  return learnt;
}

}  // namespace stepsim
