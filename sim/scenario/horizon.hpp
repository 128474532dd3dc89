// How far a long run goes, and what interrupts it on the way.
#pragma once

#include <cstdint>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// How far a run goes: for that time, or until so many steps survive. One of the two is 0. Tokens
/// are what a scenario may state in their place; the reader makes steps of them.
struct Horizon {
  Seconds time;
  std::int64_t steps = 0;
  double tokens = 0;
  bool operator==(const Horizon&) const = default;
};

/// What interrupts a run, and how long that takes.
///
/// Defaults of failures: Llama 3 405B was interrupted 419 times unexpectedly in 54 days on 16,384
/// GPUs in 2,048 nodes, 58.7 % of it by GPUs (Dubey et al. 2024, arXiv 2407.21783, section 3.3.4):
/// one in 16384 x 54 x 24 h / 246 a GPU, one in 2048 x 54 x 24 h / 173 a node of whatever else.
/// Defaults of recovery: NCCL's time-out of a collective in PyTorch (default_pg_nccl_timeout, 10
/// min), and the rest of the 15 min after which MegaScale trains on (Jiang et al. 2024, arXiv
/// 2402.15627, section 4).
struct Reliability {
  Seconds gpu_mtbf{86'300 * 3600.0};   ///< mean time between failures of one GPU
  Seconds node_mtbf{15'300 * 3600.0};  ///< mean time between failures of a node but for its GPUs
  Seconds detection{600};              ///< until the job is stopped
  Seconds restart{300};                ///< until it reads its checkpoint
  bool operator==(const Reliability&) const = default;
};

}  // namespace stepsim
