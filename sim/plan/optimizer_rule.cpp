// Bytes of the optimizers' states and sweeps.
#include "sim/plan/optimizer_rule.hpp"

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/core/suggest.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// Bytes of a weight that is updated.
double weight_bytes(const Training& training) {
  return keeps_master_weights(training) ? kFp32 : training.parameter_element();
}

double moment_bytes(const OptimizerRule& rule, const Training& training) {
  if (rule.moment_bytes > 0) return rule.moment_bytes;
  return training.moments ? bytes_per_element(*training.moments) : weight_bytes(training);
}

const std::vector<UpdateSweep>& of_kernels(const OptimizerRule& rule, OptimizerKernels kernels) {
  switch (kernels) {
    case OptimizerKernels::fused:
      return rule.fused;
    case OptimizerKernels::foreach_op:
    case OptimizerKernels::per_tensor:
      return rule.foreach_op;
    case OptimizerKernels::composed:
      return rule.composed;
  }
  return rule.fused;
}

bool grafts(const OptimizerRule& rule, const Training& training) {
  return !rule.grafted.empty() && training.preconditioner_keys().grafting;
}

const OptimizerRule& rule_named(const std::string& name) {
  const OptimizerRule* rule = Registry<OptimizerRule>::find(name);
  if (rule != nullptr) return *rule;
  throw UserError(fmt::format("'{}' is not an optimizer, {}", name,
                              did_you_mean(name, Registry<OptimizerRule>::names())));
}

}  // namespace

const OptimizerRule& optimizer_rule(const Training& training) {
  return rule_named(training.optimizer);
}

const OptimizerRule& rule_of_others(const Training& training) {
  const OptimizerRule& rule = optimizer_rule(training);
  return rule.others.empty() ? rule : rule_named(std::string(rule.others));
}

bool updates_matrices(const Training& training) {
  return optimizer_rule(training).matrices != MatrixUpdate::none;
}

UpdateOwners update_owners(const Training& training) {
  if (optimizer_rule(training).matrices == MatrixUpdate::orthogonal)
    return training.muon_keys().owners == MuonOwners::round_robin ? UpdateOwners::in_turn
                                                                  : UpdateOwners::all;
  return training.preconditioner_keys().owners == PreconditionerOwners::greedy
             ? UpdateOwners::greedy
             : UpdateOwners::all;
}

std::vector<KnownOptimizer> known_optimizers() {
  std::vector<KnownOptimizer> known;
  for (const OptimizerRule* rule : Registry<OptimizerRule>::all()) {
    const OptimizerRule& swept =
        rule->others.empty() ? *rule : rule_named(std::string(rule->others));
    known.push_back({std::string(rule->name), rule->whole_tensors, !swept.foreach_op.empty(),
                     !swept.composed.empty(), rule->moments > 0 && rule->moment_bytes == 0,
                     rule->matrices});
  }
  return known;
}

bool keeps_master_weights(const Training& training) {
  return training.master_weights && training.parameter_element() < kFp32;
}

bool casts_in_update(const Training& training) {
  return named_style(training).casts_in_update &&
         training.optimizer_kernels == OptimizerKernels::fused && keeps_master_weights(training);
}

double optimizer_bytes(const Training& training) {
  const OptimizerRule& rule = rule_of_others(training);
  return master_bytes(training) + rule.moments * moment_bytes(rule, training) + rule.scale_bytes;
}

double master_bytes(const Training& training) { return keeps_master_weights(training) ? kFp32 : 0; }

double matrix_moment_bytes(const Training& training) {
  const OptimizerRule& rule = optimizer_rule(training);
  return (rule.moments + (grafts(rule, training) ? 1 : 0)) * moment_bytes(rule, training);
}

double sweep_bytes(const UpdateSweep& sweep, const Training& training) {
  // Gradients are copied to fp32 before an update of master weights, unless that reads them.
  const bool widened = keeps_master_weights(training) && !casts_in_update(training);
  const double gradient = widened ? kFp32 : training.kept_gradient_element();
  const OptimizerRule& rule = rule_of_others(training);
  const double scales = sweep.moments > 0 ? 2 * rule.scale_bytes : 0;
  return sweep.gradients * gradient + (sweep.weights + sweep.temporaries) * weight_bytes(training) +
         sweep.moments * moment_bytes(rule, training) +
         sweep.copies * training.parameter_element() + scales;
}

std::vector<UpdateSweep> sweeps_of(const Training& training) {
  std::vector<UpdateSweep> sweeps =
      of_kernels(rule_of_others(training), training.optimizer_kernels);
  if (!training.weight_decay) std::erase_if(sweeps, [](const UpdateSweep& s) { return s.decays; });
  if (casts_in_update(training)) ++sweeps.back().copies;
  return sweeps;
}

std::vector<UpdateSweep> sweeps_of_matrix(const Training& training) {
  const OptimizerRule& rule = optimizer_rule(training);
  std::vector<UpdateSweep> sweeps = rule.fused;
  if (grafts(rule, training)) sweeps.insert(sweeps.end(), rule.grafted.begin(), rule.grafted.end());
  if (!training.weight_decay) std::erase_if(sweeps, [](const UpdateSweep& s) { return s.decays; });
  return sweeps;
}

}  // namespace stepsim
