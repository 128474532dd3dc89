// Optimizers as values: what they keep for each parameter, and what their kernels move.
//
// The update works on fp32: on master weights where parameters are narrower, on the parameters
// themselves where they are fp32. Without master weights (training.master_weights: false) it works
// on the narrow parameters, and its moments have their type, as PyTorch makes them.
#pragma once

#include <string_view>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A kernel over all parameters: how many times it reads or writes each of these for an element.
struct UpdateSweep {
  std::string_view name;
  int gradients = 0, weights = 0, moments = 0;
  int temporaries = 0;  ///< buffers as wide as the weights
  int copies = 0;       ///< weights as passes use them
  bool decays = false;  ///< true: it runs only where weights decay
};

struct OptimizerRule {
  std::string_view name;
  std::string_view description;
  int moments = 0;  ///< tensors of state as large as the parameters
  /// bytes of an element of one moment; 0: as of the weights that are updated
  double moment_bytes = 0;
  double scale_bytes = 0;      ///< scales of narrow moments, a parameter
  bool whole_tensors = false;  ///< needs norms of whole tensors, so that no rank may have a part
  /// how matrices of hidden layers are updated, and the rule of all else where these have another
  MatrixUpdate matrices = MatrixUpdate::none;
  std::string_view others = "";
  std::vector<UpdateSweep> grafted{};  ///< Shampoo: kernels of Adam's norm, which keeps one moment
  std::vector<UpdateSweep> fused;      ///< one kernel does as much as it can
  /// a kernel for each operation of the formula; empty: there are none
  std::vector<UpdateSweep> foreach_op;
  /// a kernel for each elementary operation; empty: there are none
  std::vector<UpdateSweep> composed;
};

/// Throws UserError for an unknown name.
const OptimizerRule& optimizer_rule(const Training& training);
/// The rule of parameters that are no matrices of hidden layers.
const OptimizerRule& rule_of_others(const Training& training);
/// Whether matrices of hidden layers are updated one by one, as matrices.
bool updates_matrices(const Training& training);
/// How ranks that hold equal matrices share out their updates where none shards the optimizer: each
/// does all; they take them in turn, and sum updates; each goes to whoever has least, and updates
/// are gathered.
enum class UpdateOwners { all, in_turn, greedy };
UpdateOwners update_owners(const Training& training);
std::vector<KnownOptimizer> known_optimizers();

bool keeps_master_weights(const Training& training);
/// Whether the update itself reads narrow gradients and writes narrow weights.
bool casts_in_update(const Training& training);
/// Bytes of a parameter's optimizer state and master weight; of one that is no matrix of a hidden
/// layer, where these have another rule.
double optimizer_bytes(const Training& training);
/// Bytes of a master weight; 0 where there is none.
double master_bytes(const Training& training);
/// Bytes that an optimizer that updates matrices keeps of one's element, beside its master weight.
double matrix_moment_bytes(const Training& training);
/// Bytes that one sweep moves, a parameter.
double sweep_bytes(const UpdateSweep& sweep, const Training& training);
/// The kernels of an update of what is no matrix of a hidden layer, or of all that there is, as
/// training.optimizer_kernels says.
std::vector<UpdateSweep> sweeps_of(const Training& training);
/// The kernels around the products of a matrix: before them, and behind them.
std::vector<UpdateSweep> sweeps_of_matrix(const Training& training);

}  // namespace stepsim
