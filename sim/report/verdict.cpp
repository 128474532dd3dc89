// Choosing the counterfactual and saying what it showed.
#include "sim/report/verdict.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/report/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kWorthSaying = 0.05;  // share of the step below which waiting is not the story

double share(const Metrics& m, std::initializer_list<Cause> causes) {
  double sum = 0;
  for (const Cause cause : causes) sum += m.breakdown[static_cast<std::size_t>(cause)];
  return sum / m.step_time.seconds();
}

struct Suspect {
  WhatIf what;
  double share;
  const char* bound;
  const char* free;
  const char* next;
};

/// What usually helps the group that is waited for most.
const char* next_for_network(const Metrics& m) {
  const double tensor = share(m, {Cause::exposed_tensor});
  const double data = share(m, {Cause::exposed_data});
  if (tensor >= data && tensor >= share(m, {Cause::exposed_pipeline})) {
    return "a smaller tensor degree, or a faster link inside the node";
  }
  if (data >= share(m, {Cause::exposed_pipeline})) {
    return "parallelism.data.overlap, another bucket size, or more micro-batches a step";
  }
  return "parallelism.pipeline.overlap_p2p, or a faster fabric";
}

std::string compute_bound(const Metrics& m) {
  const double busy =
      share(m, {Cause::forward, Cause::recompute, Cause::backward, Cause::optimizer});
  return fmt::format("compute-bound: the GPUs of stage {} compute {:.0f} % of the step",
                     m.slowest_stage, 100 * busy);
}

std::string next_for_compute(const Metrics& m) {
  if (share(m, {Cause::recompute}) > kWorthSaying)
    return "less recompute (selective or none) if memory allows";
  return "larger micro-batches, a lower precision, or more GPUs";
}

}  // namespace

Verdict verdict(const Metrics& m, const std::function<Seconds(WhatIf)>& simulate_with) {
  const std::array suspects = {
      Suspect{WhatIf::network,
              share(m, {Cause::exposed_tensor, Cause::exposed_data, Cause::exposed_pipeline,
                        Cause::contention, Cause::sync_wait}),
              "network-bound", "an infinitely fast network", next_for_network(m)},
      Suspect{WhatIf::input, share(m, {Cause::batch_wait, Cause::h2d}), "data-bound",
              "an infinitely fast loader",
              "more loader workers, faster decoding or faster storage"},
      Suspect{WhatIf::launches, share(m, {Cause::launch_gap}), "launch-bound",
              "free kernel launches",
              "CUDA graphs (host.mode: graph), fused kernels or larger micro-batches"},
  };
  const Suspect& first =
      *std::max_element(suspects.begin(), suspects.end(),
                        [](const auto& a, const auto& b) { return a.share < b.share; });
  const double bubble = share(m, {Cause::pipeline_bubble});
  if (std::max(first.share, bubble) < kWorthSaying) return {compute_bound(m), next_for_compute(m)};
  if (bubble > first.share) {
    return {fmt::format("bubble-bound: stage {} waits {:.0f} % of the step for other stages",
                        m.slowest_stage, 100 * bubble),
            "more micro-batches a step, or more model chunks per stage"};
  }
  const Seconds without = simulate_with(first.what);
  return {fmt::format("{}: with {} the step would take {} ({:+.0f} %)", first.bound, first.free,
                      humanise(without).text(), 100 * (without / m.step_time - 1)),
          first.next};
}

}  // namespace stepsim
