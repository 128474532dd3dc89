// Timing kernels and adding them up.
#include "sim/plan/pass/chains.hpp"

#include <algorithm>
#include <utility>

#include "sim/cluster/kernel_time.hpp"
#include "sim/cluster/measured_range.hpp"
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

/// What a kernel has written, at most; element-wise kernels write about half of what they move.
double result_bytes(const Work& work) {
  struct {
    double operator()(const Gemm& g) const {
      return static_cast<double>(g.m * g.n * g.batch) * bytes_per_element(storage_of(g.precision));
    }
    double operator()(const FusedAttention& a) const {
      const auto tokens = static_cast<double>(a.batch * a.heads * a.sequence / a.query_ranks);
      return 2 * tokens * static_cast<double>(2 * a.head_dim + a.values());
    }
    double operator()(const MemoryBound& m) const { return m.bytes.bytes() / 2; }
    double operator()(const Convolution& c) const { return c.bytes().bytes() / 2; }
  } bytes;
  return std::visit(bytes, work);
}

/// The time of isnan(result)._is_any_true() (pytorch/pytorch torch/csrc/autograd/engine.cpp,
/// call_function): a byte for each element of two is written, and read by a reduction.
double check_seconds(const Work& work, const GpuProfile& gpu) {
  const Bytes result{result_bytes(work)};
  return (kernel_time(MemoryBound{.bytes = 1.5 * result}, gpu) +
          kernel_time(MemoryBound{.bytes = 0.5 * result}, gpu))
      .seconds();
}

/// A node of autograd keeps its stack as text (pytorch/pytorch
/// torch/csrc/autograd/python_anomaly_mode.cpp, store_stack). traceback.format_stack() of Python
/// 3.11, measured on an AMD EPYC: 48 us with 10 frames, 80 with 25, 122 with 40. 25 are a training
/// loop, a few nested modules and what calls them.
constexpr Seconds kStackTrace = 80_us;

/// As long as `.item()` takes once the GPU is done (sim/scenario/describe/describe_host.hpp, Sync).
constexpr Seconds kReadBack = 6_us;

/// The kernels with what the GPU waits for where results are checked: the host launches ahead until
/// it has to read an answer back. Each check is two launches and two kernels.
std::vector<Kernel> checked(PlanDraft& draft, const std::vector<Kernel>& kernels, Seconds launch) {
  const bool blocking = draft.scenario.host.blocking();
  std::vector<Kernel> all;
  double host = 0, gpu = 0;  // since the host last waited for the GPU
  const auto wait_until = [&](const char* name, double time) {
    if (time <= gpu) return;
    all.push_back({.name = draft.name(name), .seconds = time - gpu, .cause = Cause::launch_gap});
    gpu = time;
  };
  const auto run = [&](Kernel kernel, const char* wait, double launches) {
    host += launches + kernel.host;
    wait_until(wait, host);
    kernel.host = 0;
    gpu += kernel.seconds;
    all.push_back(kernel);
    if (blocking) host = gpu;
  };
  for (const Kernel& kernel : kernels) {
    run(kernel, blocking ? "blocking launch" : "launch", launch.seconds());
    if (kernel.check <= 0) continue;
    const Kernel look{.name = draft.name("look for NaN"),
                      .seconds = kernel.check,
                      .memory_bound = true,
                      .cause = kernel.cause};
    run(look, "anomaly detection", 2 * launch.seconds());
    wait_until("anomaly detection", gpu + kReadBack.seconds());
    host = gpu;
  }
  // A chain that blocks begins with what the host does for it.
  if (!all.front().is_launch())
    all.insert(all.begin(), {.name = draft.name("launch"), .cause = Cause::launch_gap});
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
  const Host& host = draft.scenario.host;
  const bool is_node = cause == Cause::forward || cause == Cause::recompute;
  const bool checks = host.anomaly_detection && cause == Cause::backward;
  return {.name = draft.name(name),
          .seconds = kernel_time(work, gpu).seconds() * draft.pace.of(work),
          .memory_bound = std::holds_alternative<MemoryBound>(work),
          .contention = std::holds_alternative<Gemm>(work) ? gpu.gemm_contention : 1,
          .cause = cause,
          .host = host.anomaly_detection && is_node
                      ? kStackTrace.seconds() * cpu_slowdown(draft.scenario)
                      : 0,
          .check = checks ? check_seconds(work, gpu) * draft.pace.of(MemoryBound{}) : 0,
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
