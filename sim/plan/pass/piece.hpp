// Pieces of a pass: chains of kernels between points of contact, and those points.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/plan/group/channel.hpp"

namespace stepsim {

struct ChainPiece {
  std::uint32_t chain = 0;
};
/// Starts when the compute row has reached this point; waits refer to it by its slot.
struct StartPiece {
  Channel channel{};
  std::uint32_t operation = 0;
  int slot = 0;
  bool beside_block = false;  ///< needs only what came before the gathered block that runs
  int follows = -1;           ///< needs only the collective of that slot
  bool reduces = false;       ///< gradients, at the next turn of the thread that does
};
struct WaitPiece {
  int slot = 0;
};
/// A block whose parameters were gathered begins.
struct BlockPiece {};
/// The host waits until the block that is that many before the current one has been computed: 1, 2.
struct HoldPiece {
  int blocks = 1;
};
/// The host reads what the kernels before have computed.
struct ReadPiece {};
/// Activations of the layer that was computed leave for the host.
struct OffloadPiece {
  Bytes bytes;
};
/// Activations that had left for the host are needed by the next layer.
struct ReloadPiece {
  Bytes bytes;
};
/// Where the other pass goes on, if two run as one (overlap.hpp).
struct TurnPiece {};
using Piece = std::variant<ChainPiece, StartPiece, WaitPiece, BlockPiece, HoldPiece, ReadPiece,
                           OffloadPiece, ReloadPiece, TurnPiece>;
using Segment = std::vector<Piece>;

}  // namespace stepsim
