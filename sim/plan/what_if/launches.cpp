// Changes of the host that launches kernels: free, with fewer launches, with fewer kernels.
#include "sim/core/registry.hpp"
#include "sim/plan/what_if.hpp"

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

/// The settings, and what has to go with them where calls are counted: compiled code calls no
/// modules.
std::vector<std::string> with(const Scenario& scenario, std::vector<std::string> settings) {
  if (scenario.host.counts_calls()) settings.emplace_back("host.pace=launches");
  return settings;
}

std::vector<Change> changes(const Scenario& scenario) {
  std::vector<Change> changes;
  const bool has_default = scenario.host.launch == default_launch(HostMode::eager);
  if (scenario.host.mode == HostMode::eager && has_default &&
      scenario.training.fusion != Fusion::xla)
    changes.push_back(
        {.settings = with(scenario, {"host.mode=compiled", "training.fusion=compiled"})});
  if (scenario.host.blocking()) return {{.settings = {"host.mode=eager"}}};
  if (!scenario.host.graph()) changes.push_back({.settings = with(scenario, {"host.mode=graph"})});
  const Fusion fusion = scenario.training.fusion;
  if (fusion == Fusion::none) changes.push_back({.settings = {"training.fusion=fused"}});
  const bool is_compiled = fusion == Fusion::compiled || fusion == Fusion::xla;
  if (!is_compiled) changes.push_back({.settings = {"training.fusion=compiled"}});
  if (scenario.training.optimizer_kernels != OptimizerKernels::fused)
    changes.push_back({.settings = {"training.optimizer_kernels=fused"}});
  return changes;
}

const Registered<Proposal> host{{.name = "host", .changes = changes}};

}  // namespace
}  // namespace stepsim
