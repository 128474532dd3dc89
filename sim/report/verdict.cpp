// Choosing the counterfactual and saying what it showed.
#include "sim/report/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/report/humanise.hpp"
#include "sim/report/straggler.hpp"

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
  const char* bound;
  const char* free;
};

constexpr std::array kSuspects = {
    Suspect{WhatIf::network, "network-bound", "an infinitely fast network"},
    Suspect{WhatIf::input, "data-bound", "an infinitely fast loader"},
    Suspect{WhatIf::launches, "launch-bound", "free kernel launches"},
};

/// What usually helps the group that is waited for most.
const char* next_for_network(const Metrics& m) {
  static constexpr std::array kHelp = {
      std::pair{Cause::exposed_tensor, "a smaller tensor degree, or a faster link inside the node"},
      std::pair{Cause::exposed_data, "larger micro-batches, another bucket size, or less sharding"},
      std::pair{Cause::exposed_pipeline, "parallelism.pipeline.overlap_p2p, or a faster fabric"},
      std::pair{Cause::exposed_expert, "a smaller expert degree, best one within a node"},
      std::pair{Cause::exposed_tables,
                "parallelism.embedding: table, or a faster link inside the node"},
      std::pair{Cause::exposed_context,
                "another parallelism.context.kind, or a smaller context degree"}};
  return std::max_element(kHelp.begin(), kHelp.end(),
                          [&](const auto& a, const auto& b) {
                            return share(m, {a.first}) < share(m, {b.first});
                          })
      ->second;
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

const char* next_for(WhatIf what, const Metrics& m) {
  switch (what) {
    case WhatIf::network:
      return next_for_network(m);
    case WhatIf::input:
      return "more loader workers, faster decoding or faster storage";
    case WhatIf::launches:
      return "CUDA graphs (host.mode: graph), fused kernels or larger micro-batches";
  }
  return "";
}

/// The resource whose absence would save most.
std::pair<const Suspect*, Seconds> greatest_gain(
    const std::function<Seconds(WhatIf)>& simulate_with) {
  std::pair<const Suspect*, Seconds> best{&kSuspects.front(), Seconds{INFINITY}};
  for (const Suspect& suspect : kSuspects) {
    const Seconds without = simulate_with(suspect.what);
    if (without < best.second) best = {&suspect, without};
  }
  return best;
}

/// Faults come first: they can be mended without a change to the scenario.
std::optional<Verdict> fault_verdict(const Metrics& m) {
  if (!m.stragglers.empty() && 1 - m.without_stragglers / m.step_time >= kWorthSaying) {
    return Verdict{"straggler: " + straggler_sentence(m),
                   m.stragglers.front().stall * 2 > m.stragglers.front().late
                       ? "look for what keeps that host busy, or leave its node out"
                       : "check clocks and temperature of that GPU, or leave its node out"};
  }
  const auto worst = std::min_element(
      m.fault_costs.begin(), m.fault_costs.end(),
      [](const FaultCost& a, const FaultCost& b) { return a.without < b.without; });
  if (worst == m.fault_costs.end() || 1 - worst->without / m.step_time < kWorthSaying) return {};
  return Verdict{
      fmt::format("held up by {0}: without {0} the step would take {1} ({2:+.0f} %)", worst->title,
                  humanise(worst->without).text(), -100 * (1 - worst->without / m.step_time)),
      worst->key == "slow_links" ? "replace the cable or the transceiver, or route around"
                                 : "find out what makes them so"};
}

}  // namespace

Verdict verdict(const Metrics& m, const std::function<Seconds(WhatIf)>& simulate_with) {
  if (const auto fault = fault_verdict(m)) return *fault;
  const auto [suspect, without] = greatest_gain(simulate_with);
  const double gain = 1 - without / m.step_time;
  const double bubble = share(m, {Cause::pipeline_bubble});
  if (gain < kWorthSaying && bubble < kWorthSaying) return {compute_bound(m), next_for_compute(m)};
  if (bubble > gain) {
    return {fmt::format("bubble-bound: stage {} waits {:.0f} % of the step for other stages",
                        m.slowest_stage, 100 * bubble),
            "more micro-batches a step, or more model chunks per stage"};
  }
  return {fmt::format("{}: with {} the step would take {} ({:+.0f} %)", suspect->bound,
                      suspect->free, humanise(without).text(), -100 * gain),
          next_for(suspect->what, m)};
}

}  // namespace stepsim
