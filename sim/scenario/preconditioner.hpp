// SOAP and Shampoo: gradients of matrices between two square ones that grow out of them.
//
// For a gradient G of m x n, Shampoo averages L = G G' and R = G' G and steps along L^(-1/4) G
// R^(-1/4) (Gupta et al. 2018, arXiv 1802.09568; Shi et al. 2023, arXiv 2309.06497); SOAP runs Adam
// on gradients that are turned into the eigenbases of L and R (Vyas et al. 2024, arXiv 2409.11321).
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/quantity.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// Optimizers that have preconditioners, as scenarios name them.
inline constexpr const char* kSoap = "soap";
inline constexpr const char* kShampoo = "shampoo";

/// Which of the ranks that hold equal matrices updates one: each of them (SOAP of its authors), or
/// the one with least that far, the largest first, and updates are gathered (facebookresearch/
/// optimizers distributed_shampoo/utils/shampoo_utils.py, distribute_buffer_sizes). A sharded
/// optimizer has its own answer, as for Muon.
enum class PreconditionerOwners { all, greedy };

/// The update of matrices of hidden layers between two preconditioners.
struct Preconditioner {
  std::int64_t every = 10;  ///< steps between renewals of bases or roots
  /// SOAP: sides above it have no preconditioner; Shampoo: matrices are cut into blocks whose sides
  /// are at most so long; 0: of any length
  std::int64_t largest_side = 10000;
  bool grafting = false;       ///< Shampoo: steps have the norm of Adam's
  bool kl_statistics = false;  ///< SOAP: gradients are weighed by the other side's inverse
  Precision precision = Precision::fp32;  ///< of products
  /// Rate of QR and eigendecompositions.
  FlopsPerSecond decomposition_rate{kDecompositionRate};
  PreconditionerOwners owners = PreconditionerOwners::all;
  bool operator==(const Preconditioner&) const = default;

  /// torch.linalg.qr of 2048 x 2048 in fp32 takes 16 ms on an A100 (pytorch/pytorch issue 151066),
  /// and has 8/3 x 2048^3 FLOP. Eigendecompositions of cuSOLVER reach as little, below 3 % of an
  /// H100 (Wang et al. 2024, Extracting the Potential of Emerging Hardware Accelerators for
  /// Symmetric Eigenvalue Decomposition).
  static constexpr double kDecompositionRate = 1.4e12;
};

/// What the authors' programs do unless it is said otherwise: SOAP of nikhilvyas/SOAP, or the one
/// called Shampoo of facebookresearch/optimizers on data-parallel ranks.
constexpr Preconditioner preset_preconditioner(std::string_view optimizer) {
  if (optimizer != kShampoo) return {};
  return {.every = 1, .largest_side = 1024, .owners = PreconditionerOwners::greedy};
}

}  // namespace stepsim
