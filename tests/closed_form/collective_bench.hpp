// Single collectives against measured ones: the bench that times them, and the errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/group/lone_collective.hpp"
#include "tests/closed_form/harness.hpp"

namespace stepsim {

/// Relative errors, in order.
struct CollectiveErrors {
  std::vector<double> all;
  void add(double predicted, double measured) {
    all.insert(std::upper_bound(all.begin(), all.end(), std::abs(predicted / measured - 1)),
               std::abs(predicted / measured - 1));
  }
  double at(double share) const {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size()))];
  }
};

/// Simulated microseconds of one collective of all ranks.
class CollectiveBench {
 public:
  /// `collectives` is the release of NCCL, and what else the section of that name states.
  explicit CollectiveBench(const std::string& cluster, int ranks,
                           const std::string& collectives = "\"2.30\"",
                           const std::string& precision = "bf16")
      : experiment_(fmt::format("model: {{name: m, kind: mlp, layers: 1, width: 8}}\n"
                                "training: {{global_batch: {}, precision: {}}}\ncluster: {}\n"
                                "collectives: {{nccl: {}}}\n",
                                ranks, precision, cluster, collectives)) {}

  double operator()(CollectiveOp op, double bytes) const {
    const Scenario& s = experiment_.scenario;
    Group group = group_for(experiment_.plan, 0, op);
    Phases phases = collective({op, Bytes{bytes}}, group.shape, s.cluster, s.collectives);
    const Plan plan = lone_collective(experiment_.plan, std::move(group), std::move(phases));
    return simulate(plan).timeline.step_ends[0] * 1e6;
  }

 private:
  Experiment experiment_;
};

inline CollectiveOp op_named(const std::string& name) {
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    if (name == name_of(op)) return op;
  }
  throw InternalError("no such collective: " + name);
}

}  // namespace stepsim
