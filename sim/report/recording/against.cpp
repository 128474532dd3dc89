// Takes both steps apart in the same way, and subtracts.
#include "sim/report/recording/against.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/recording/predicted_kernels.hpp"
#include "sim/report/recording/recording_report.hpp"

namespace stepsim {
namespace {

constexpr double kWorthARemark = 0.005;  // share of the recorded step
constexpr double kOfAnotherKind = 10;    // kernels of one work differ less between GPUs of a decade

double of(const CauseSeconds& causes, Cause cause) {
  return causes[static_cast<std::size_t>(cause)];
}

double work_in(const CauseSeconds& causes) {
  double sum = 0;
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (is_work(static_cast<Cause>(i))) sum += causes[i];
  }
  return sum;
}

/// What the kernels take together, less the sum of the families.
double beside(const StepAccount& account) {
  double sum = 0;
  for (const FamilyTime& family : account.families) sum += family.seconds;
  return work_in(account.causes) - sum;
}

/// What a family's difference would be explained by.
std::string family_remark(const FamilyTime& predicted, const FamilyTime& recorded) {
  if (recorded.seconds <= 0) return "the recording has no such kernels";
  if (predicted.seconds <= 0) return "the prediction has no such kernels";
  const double ratio = recorded.seconds / predicted.seconds;
  if (ratio > kOfAnotherKind || ratio < 1 / kOfAnotherKind)
    return "other kernels than predicted: look at training.fusion, training.attention";
  std::string text = fmt::format("{:.2f} times as long", ratio);
  const double more = recorded.launches / std::max(1.0, predicted.launches);
  if (recorded.launches > 0 && std::abs(more - 1) > 0.05)
    text +=
        fmt::format(", in {:.0f} launches and not {:.0f}", recorded.launches, predicted.launches);
  return text + "; calibrate trace fits their rates";
}

/// The recording has a mean over its steps, and the scenario a pause every so many.
std::string pause_remark(const char* setting, double mean_s, int every) {
  return fmt::format("--set host.{}={:.4g}ms", setting, 1e3 * mean_s * every);
}

std::string remark_on(Cause cause, const Scenario& scenario, const CauseSeconds& recorded) {
  switch (cause) {
    case Cause::launch_gap:
      return "the host's pace: host.pace=calls, host.speed, host.launch; calibrate trace fits it";
    case Cause::garbage_collection:
      return pause_remark(
          "garbage_collection.pause", of(recorded, cause),
          scenario.host.garbage_collection ? scenario.host.garbage_collection->every : 1);
    case Cause::recompilation:
      return pause_remark("recompilation.time", of(recorded, cause),
                          scenario.host.recompilation ? scenario.host.recompilation->every : 1);
    case Cause::batch_wait:
    case Cause::h2d:
      return scenario.data ? "keys below data: workers, decode, storage"
                           : "the scenario states no input pipeline: add the key data";
    case Cause::cpu_work:
      if (!scenario.host.cpu_work.empty()) return "host.cpu_work: its time";
      return scenario.host.sync ? "host.sync: how often it reads"
                                : "--set host.sync.per=micro_batch, or host.cpu_work";
    case Cause::sync_wait:
      return "another rank comes late: stepsim explain of the folder says which";
    default:
      break;
  }
  for (const Axis axis : kAllAxes) {
    if (cause == exposed(axis))
      return fmt::format("rates of the {} group: calibrate trace fits them", name_of(axis));
  }
  return "";
}

double layers_of(const Scenario& scenario) {
  const auto* transformer = std::get_if<Transformer>(&scenario.model.shape);
  return transformer
             ? static_cast<double>(transformer->layers) / scenario.parallelism.pipeline.stages
             : 0;
}

}  // namespace

StepAccount predicted_account(const Metrics& metrics, const OpGraph& graph,
                              const Simulation& simulation) {
  StepAccount account{
      .step_s = metrics.step_time.seconds(), .causes = metrics.breakdown, .mfu = metrics.mfu};
  for (const FamilyKernel& kernel : predicted_kernels(metrics, graph, simulation)) {
    FamilyTime& time = account.families[static_cast<std::size_t>(kernel.family)];
    time.seconds += kernel.seconds * kernel.calls;
    time.launches += kernel.calls;
    account.launches += kernel.calls;
  }
  account.beside_s = beside(account);
  return account;
}

StepAccount recorded_account(const RecordedJob& job) {
  const Observation& seen = job.pace_rank();
  const double steps = static_cast<double>(std::max<std::size_t>(1, seen.steps.size()));
  StepAccount account{.step_s = seconds_of(seen.window.length()) / steps,
                      .causes = mean_step_causes(seen),
                      .not_known_s = seconds_of(seen.breakdown.not_known) / steps};
  for (const KernelTime& kind : seen.kinds) {
    if (kind.kind == KernelKind::communication) continue;
    FamilyTime& time = account.families[static_cast<std::size_t>(family_of(kind.kind))];
    time.seconds += kind.seconds / steps;
    time.launches += static_cast<double>(kind.calls) / steps;
    account.launches += static_cast<double>(kind.calls) / steps;
  }
  // Copies within the GPU are no family of their own.
  for (const CopyTime& copy : seen.copies) {
    if (copies_to_gpu(copy.name) || copies_from_gpu(copy.name)) continue;
    FamilyTime& time = account.families[static_cast<std::size_t>(KernelFamily::other)];
    time.seconds += copy.seconds / steps;
    time.launches += static_cast<double>(copy.calls) / steps;
  }
  // What updates parameters are element-wise kernels, too; their launches tell them apart.
  FamilyTime& optimizer = account.families[static_cast<std::size_t>(KernelFamily::optimizer)];
  FamilyTime& other = account.families[static_cast<std::size_t>(KernelFamily::other)];
  const double moved =
      std::clamp(of(account.causes, Cause::optimizer) - optimizer.seconds, 0.0, other.seconds);
  optimizer.seconds += moved;
  other.seconds -= moved;
  if (seen.is_of_core) {  // operators in pieces are no launches
    account.launches = 0;
    for (FamilyTime& family : account.families) family.launches = 0;
  }
  account.beside_s = beside(account);
  return account;
}

namespace {

/// What makes one of the two a comparison with something else.
std::vector<std::string> mismatches(const Scenario& scenario, const RecordedJob& job) {
  const Observation& seen = job.pace_rank();
  std::vector<std::string> found;
  if (seen.steps.empty())
    found.push_back(
        "No steps are marked in the recording: all that was recorded is taken for one step.");
  std::string device;
  for (const char c : seen.device)
    device += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string gpu = scenario.cluster.gpu.name;
  gpu = gpu.substr(0, gpu.find('-'));
  if (!seen.is_of_core && !device.empty() && device.find(gpu) == std::string::npos)
    found.push_back(fmt::format("The recording is of {}, and the scenario of {}.", seen.device,
                                scenario.cluster.gpu.name));
  const int ranks = seen.world_size.value_or(static_cast<int>(job.ranks.size()));
  if (seen.world_size && ranks != scenario.cluster.gpus())
    found.push_back(fmt::format("The recorded job has {} ranks, and the scenario {}.", ranks,
                                scenario.cluster.gpus()));
  return found;
}

}  // namespace

RecordedComparison compare_with_recording(const Scenario& scenario, const Metrics& metrics,
                                          const OpGraph& graph, const Simulation& simulation,
                                          const RecordedJob& job) {
  RecordedComparison comparison{.recording = job.path,
                                .predicted = predicted_account(metrics, graph, simulation),
                                .recorded = recorded_account(job),
                                .layers = layers_of(scenario),
                                .not_known = mismatches(scenario, job)};
  for (const std::string& sentence : all_not_known(job)) comparison.not_known.push_back(sentence);
  const StepAccount &predicted = comparison.predicted, &recorded = comparison.recorded;
  if (recorded.step_s > 0)
    comparison.recorded.mfu = predicted.mfu * predicted.step_s / recorded.step_s;
  auto& all = comparison.differences;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<KernelFamily>(i);
    all.push_back({name_of(family), title_of(family), predicted.families[i].seconds,
                   recorded.families[i].seconds,
                   family_remark(predicted.families[i], recorded.families[i])});
  }
  all.push_back({"beside", "kernels beside each other", predicted.beside_s, recorded.beside_s, ""});
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    if (is_work(cause)) continue;
    all.push_back({name_of(cause), title_of(cause), predicted.causes[i], recorded.causes[i],
                   remark_on(cause, scenario, recorded.causes)});
  }
  all.push_back({"not_known", "not known", 0, recorded.not_known_s, ""});
  std::erase_if(
      all, [](const StepDifference& one) { return one.predicted_s == 0 && one.recorded_s == 0; });
  std::ranges::stable_sort(all, std::greater{},
                           [](const StepDifference& one) { return std::abs(one.difference_s()); });
  for (StepDifference& one : all) {
    if (std::abs(one.difference_s()) < kWorthARemark * recorded.step_s) one.remark.clear();
  }
  return comparison;
}

}  // namespace stepsim
