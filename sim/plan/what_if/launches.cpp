// Changes of the host that launches kernels: free, with fewer launches, with fewer kernels.
#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/scenario/describe/frameworks.hpp"

namespace stepsim {
namespace {

const Registered<Limit> launches{{
    .name = "launches",
    .bound = "launch-bound",
    .waits = "for kernel launches",
    .world = "with free kernel launches",
    .causes = {Cause::launch_gap},
    .applies = [](const Scenario& s) { return s.host.launch > Seconds{0}; },
    .plan = with_free_launches,
    .proposals = {"host", "micro-batches"},
}};

std::string fusion(std::string_view style) { return fmt::format("training.fusion={}", style); }

/// The settings, and what has to go with them where calls are counted: compiled code calls no
/// modules.
std::vector<std::string> with(const Scenario& scenario, std::vector<std::string> settings) {
  if (scenario.host.counts_calls()) settings.emplace_back("host.pace=launches");
  return settings;
}

std::vector<Change> changes(const Scenario& scenario) {
  std::vector<Change> changes;
  const Host& host = scenario.host;
  const bool has_default =
      host.launch == default_launch(scenario.framework, host.mode, host.pace, host.speed);
  const Style& style = named_style(scenario.training);
  const std::string compiled = fusion(style.compiles_to);
  const bool compiles = !style.compiles_to.empty();
  if (scenario.host.mode == HostMode::eager && has_default && compiles)
    changes.push_back({.settings = with(scenario, {"host.mode=compiled", compiled})});
  if (scenario.host.anomaly_detection) return {{.settings = {"host.anomaly_detection=false"}}};
  if (scenario.host.blocking()) return {{.settings = {"host.mode=eager"}}};
  if (!scenario.host.graph()) changes.push_back({.settings = with(scenario, {"host.mode=graph"})});
  if (!style.fuses_to.empty()) changes.push_back({.settings = {fusion(style.fuses_to)}});
  if (compiles && style.compiles_to != style.name) changes.push_back({.settings = {compiled}});
  if (scenario.training.optimizer_kernels != OptimizerKernels::fused)
    changes.push_back({.settings = {"training.optimizer_kernels=fused"}});
  return changes;
}

const Registered<Proposal> host{{.name = "host", .changes = changes}};

}  // namespace
}  // namespace stepsim
