// Stack traces in forward passes, and checks of what backward kernels have written.
#include "sim/plan/pass/anomaly_detection.hpp"

#include <variant>

#include "sim/cluster/kernel_time.hpp"
#include "sim/plan/program/launch_time.hpp"

namespace stepsim {
namespace {

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

}  // namespace

Anomalies anomalies_of(const PlanDraft& draft, const Work& work, Cause cause) {
  if (!draft.scenario.host.anomaly_detection) return {};
  if (cause == Cause::forward || cause == Cause::recompute)
    return {.trace = kStackTrace.seconds() * cpu_slowdown(draft.scenario), .check = 0};
  if (cause != Cause::backward) return {};
  const double seconds = check_seconds(work, draft.scenario.cluster.gpu);
  return {.trace = 0, .check = seconds * draft.pace.of(MemoryBound{})};
}

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

}  // namespace stepsim
