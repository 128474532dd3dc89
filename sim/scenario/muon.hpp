// Muon: momentum that is made orthogonal, matrix by matrix (Jordan et al. 2024,
// kellerjordan.github.io/posts/muon; Liu et al. 2025, arXiv 2502.16982).
#pragma once

#include <cstdint>

namespace stepsim {

/// How a matrix that tensor ranks split becomes orthogonal, named as NVIDIA/Megatron-LM's
/// --muon-tp-mode: each rank gathers it and does all of it; each does its own part as if it were
/// the matrix; each multiplies its own part, and they sum small products.
enum class MuonTensorMode { duplicated, blockwise, distributed };

/// Which of the ranks that hold equal matrices updates one: each of them (torch.optim.Muon), or
/// they take matrices in turn and sum up what is to be added (KellerJordan/modded-nanogpt). A
/// sharded optimizer has its own answer: ranks own whole matrices (layer-wise).
enum class MuonOwners { all, round_robin };

/// The update of matrices of hidden layers.
struct Muon {
  std::int64_t steps = 5;  ///< of Newton and Schulz's iteration, three products each
  bool nesterov = true;    ///< the gradient is added to the momentum once more
  bool split_qkv = true;   ///< queries, keys and values of one linear layer are matrices each
  bool symmetric = false;  ///< of the two products that are symmetric one half is computed
  MuonTensorMode tensor_mode = MuonTensorMode::duplicated;
  MuonOwners owners = MuonOwners::all;
  bool operator==(const Muon&) const = default;
};

}  // namespace stepsim
