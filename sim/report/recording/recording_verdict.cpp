// What holds recorded steps up: the largest part of the window in which the GPU does not compute.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/report/recording/recording_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// Below this share of the window nothing is worth a change (the rule of TensorBoard's plugin for
/// its loader).
constexpr double kWorthwhile = 0.05;

struct Part {
  Nanoseconds time;
  const char* name;   ///< "data-bound"
  const char* waits;  ///< what the GPU does meanwhile
  const char* next;
};

std::array<Part, 9> parts_of(const Observation& seen) {
  const IdleCauses& idle = seen.idle.causes;
  const HostStates& host = seen.idle.late_host;
  const IdleDoubts& doubts = seen.idle.doubts;
  return {{
      {host.loader, "data-bound", "waits for the loader, which hands over batches too late",
       "more workers of the DataLoader, a deeper prefetch, or less work for each sample"},
      {host.sync, "sync-bound", "waits for a host that had waited for it",
       "look for .item(), .cpu(), nonzero() and prints of tensors in the step"},
      {host.operation + host.runtime + idle.launch_latency - doubts.of_launch_latency,
       "launch-bound", "waits for operators and launches of the host",
       "fewer and larger kernels: torch.compile, fused optimizers, CUDA graphs, larger "
       "micro-batches"},
      {host.python, "host-bound", "waits for Python, or for what it calls between operators",
       "record once more with with_stack=True, and look what Python does in the longest gaps"},
      {seen.gpu.exposed_communication(), "communication-bound", "communicates and computes nothing",
       "overlap it with computation, or compare ranks: the time includes waiting for a late one"},
      {seen.gpu.copies_alone(), "copy-bound", "copies and computes nothing",
       "pinned memory, non_blocking=True and prefetching to the GPU"},
      {idle.queued - doubts.of_queued, "queue-bound", "waits for events of other streams",
       "look which stream the next kernels wait for"},
      {idle.tiny, "bound by small kernels", "changes from one kernel to the next",
       "fewer and larger kernels: torch.compile, fused optimizers"},
      {idle.unmatched + idle.tail + doubts.of_queued + doubts.of_launch_latency, "not known",
       "may be idle, where launches or kernels were not recorded",
       "record more steps, with ProfilerActivity.CPU and a warm-up, and without CUDA graphs"},
  }};
}

}  // namespace

RecordingVerdict verdict_of(const Observation& seen) {
  if (seen.window.length() == 0 || seen.gpu.busy == 0)
    return {"nothing can be said: no work of a GPU was recorded",
            "record with ProfilerActivity.CUDA, on a machine with a GPU"};
  const auto share = [&](Nanoseconds time) {
    return seconds_of(time) / seconds_of(seen.window.length());
  };
  const auto parts = parts_of(seen);
  const auto worst = std::ranges::max_element(parts, {}, &Part::time);
  if (share(worst->time) < kWorthwhile)
    return {fmt::format("compute-bound: the GPU computes {} of the time",
                        percent(share(seen.gpu.compute))),
            "the kernels themselves: the kinds that take most are above"};
  return {fmt::format("{}: the GPU {} for {} of the time", worst->name, worst->waits,
                      percent(share(worst->time))),
          worst->next};
}

}  // namespace stepsim
