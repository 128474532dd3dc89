// Time of the host between launches, at the pace of calls: they are added up until the kernel that
// they come before.
#pragma once

#include <utility>

#include "sim/ops/host_cost.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Seconds that pass on the scenario's host for one of measured host time; 0 where launches alone
/// set its pace.
double host_scale(const Scenario& scenario);
/// Seconds that pass on the scenario's host for one that was published of another host, none of
/// which is known to be faster or slower; 0 where launches alone set its pace.
double published_scale(const Scenario& scenario);

class HostPaceMeter {
 public:
  explicit HostPaceMeter(const Scenario& scenario)
      : scale_(host_scale(scenario)), hooks_(modules_of(scenario.training).has_hooks) {}

  /// The op's calls: its forward pass, recorded or without a graph, or its backward pass.
  void spend(const Op& op, HostPass pass);
  void spend(const HostCalls& calls, HostPass pass) { spend(host_time(calls, 0, pass)); }
  void spend(Seconds time) { pending_ += time.seconds() * scale_; }
  void complete_gradient();

  /// Up to this launch; the next one has what follows.
  double take() { return std::exchange(pending_, 0); }

 private:
  double scale_;
  bool hooks_;  ///< Megatron-LM's, in Python
  double pending_ = 0;
};

}  // namespace stepsim
