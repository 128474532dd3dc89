// Timing kernels and adding them up.
#include "sim/plan/pass/chains.hpp"

#include <algorithm>
#include <utility>

#include "sim/cluster/kernel_time.hpp"
#include "sim/cluster/measured_range.hpp"
#include "sim/plan/pass/anomaly_detection.hpp"
#include "sim/plan/program/launch_time.hpp"

namespace stepsim {
namespace {

void add_outside(std::vector<OutsideSeconds>& outside, const Kernel& kernel) {
  if (kernel.outside == kInRange) return;
  const auto known = std::ranges::find(outside, kernel.outside, &OutsideSeconds::name);
  if (known == outside.end()) {
    outside.push_back({kernel.outside, kernel.seconds});
  } else {
    known->seconds += kernel.seconds;
  }
}

/// Each kernel after the launch that the GPU waits for.
std::vector<Kernel> between_launches(PlanDraft& draft, const std::vector<Kernel>& kernels,
                                     Seconds launch) {
  Kernel wait{.name = draft.name("blocking launch"), .cause = Cause::launch_gap};
  std::vector<Kernel> all;
  all.reserve(2 * kernels.size());
  for (const Kernel& kernel : kernels) {
    wait.seconds = launch.seconds() + kernel.host;
    all.push_back(wait);
    all.push_back(kernel);
    all.back().host = 0;
  }
  return all;
}

}  // namespace

std::uint32_t add_launched_chain(PlanDraft& draft, std::vector<Kernel> kernels, double factor) {
  const Seconds launch = launch_time(draft.scenario);
  const Host& host = draft.scenario.host;
  const bool checks = host.anomaly_detection &&
                      std::ranges::any_of(kernels, [](const Kernel& k) { return k.check > 0; });
  if (!host.blocking() && !checks) return add_chain(draft.plan, std::move(kernels), launch, factor);
  for (Kernel& kernel : kernels) {
    kernel.seconds *= factor;  // a slow GPU's launches are not slow
    kernel.check *= factor;
  }
  return add_chain(
      draft.plan,
      checks ? checked(draft, kernels, launch) : between_launches(draft, kernels, launch),
      Seconds{0}, 1);
}

Kernel timed(PlanDraft& draft, const std::string& name, const Work& work, Cause cause) {
  const GpuProfile& gpu = draft.scenario.cluster.gpu;
  const std::string outside = outside_range(work, gpu);
  const Anomalies anomalies = anomalies_of(draft, work, cause);
  return {.name = draft.name(name),
          .seconds = kernel_time(work, gpu).seconds() * draft.pace.of(work),
          .memory_bound = std::holds_alternative<MemoryBound>(work),
          .contention = std::holds_alternative<Gemm>(work) ? gpu.gemm_contention : 1,
          .cause = cause,
          .host = anomalies.trace,
          .check = anomalies.check,
          .outside = outside.empty() ? kInRange : draft.name(outside)};
}

void contract(Chain& chain) {
  chain.launch = chain.compute = chain.launched = 0;
  chain.mix.fill(0);
  chain.outside.clear();
  double host = 0;
  for (Kernel& kernel : chain.kernels) {
    kernel.host_until = host += kernel.host;
    chain.launch += chain.launch_each + kernel.host;
    chain.compute += kernel.seconds;
    // Each kernel starts when it is launched and the one before has ended.
    chain.launched = std::max(chain.launched, chain.launch) + kernel.seconds;
    chain.mix[static_cast<std::size_t>(kernel.cause)] += kernel.seconds;
    add_outside(chain.outside, kernel);
  }
}

std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch, double factor) {
  for (Kernel& kernel : kernels) kernel.seconds *= factor;
  Chain chain{.kernels = std::move(kernels), .launch_each = launch.seconds()};
  contract(chain);
  plan.chains.push_back(std::move(chain));
  return static_cast<std::uint32_t>(plan.chains.size() - 1);
}

}  // namespace stepsim
