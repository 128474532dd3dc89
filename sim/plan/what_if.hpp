// Counterfactuals: worlds that differ from a scenario in one thing.
//
// A limit makes one resource free in the plan: what is left is the most that could be gained there.
// A proposal is what somebody could do: another value of a key, which the reader checks and the
// plan is made from anew, or faster hardware. Both are values, registered by the files of what_if/:
// a part of the step that gets keys of its own adds a file with its limit and its proposals.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

/// One resource, and the plan in which it takes no time.
struct Limit {
  std::string_view name;      ///< "network"
  std::string_view bound;     ///< "network-bound"
  std::string_view waits;     ///< what GPUs that are bound by it wait for: "for the network"
  std::string_view world;     ///< "with an infinitely fast network"
  std::vector<Cause> causes;  ///< what waiting for it is called
  bool (*applies)(const Scenario& scenario);
  Plan (*plan)(Plan plan);
  std::vector<std::string_view> proposals;  ///< families of settings that are about it
};

/// One thing that is changed. Exactly one of `settings`, `scenario` and `plan` is there.
struct Change {
  std::string title{};                  ///< "GPUs twice as fast"; settings speak for themselves
  std::vector<std::string> settings{};  ///< "data.workers=16", as --set takes them
  std::function<void(Scenario&)> scenario{};  ///< hardware that no key of its own describes
  std::function<Plan(Plan)> plan{};           ///< what neither a key nor a scenario says
};

/// A family of changes. Those that the reader refuses do not fit the scenario and are left out.
struct Proposal {
  std::string_view name;
  std::vector<Change> (*changes)(const Scenario& scenario);
};

/// The families of these names, in this order, that are settings: what nobody can set is left out.
std::vector<Change> settings_of(const std::vector<std::string_view>& proposals,
                                const Scenario& scenario);

Plan with_free_network(Plan plan);      ///< every collective and transfer takes no time
Plan with_free_input(Plan plan);        ///< batches are read, decoded and copied in no time
Plan with_free_workers(Plan plan);      ///< batches are read and decoded in no time
Plan with_free_checkpoints(Plan plan);  ///< checkpoints are gathered, copied and written in no time
Plan with_free_launches(Plan plan);     ///< the host launches in no time
/// Stages find what others send them: a transfer takes the time that it takes alone, but nobody
/// waits for another stage to come to it.
Plan without_bubble(Plan plan);
/// The model's own kernels take no time: what decodes a batch on a GPU is input.
Plan without_compute(Plan plan);
/// Every kernel takes 1 / `factor` of its time, on the same network.
Plan with_faster_gpus(Plan plan, double factor);

}  // namespace stepsim
