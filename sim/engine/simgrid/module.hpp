// What the module with SimGrid's board exports: one function, looked up by its name.
#pragma once

#include "sim/engine/board.hpp"

namespace stepsim {

/// Returns a new board. Keeps references to both.
using MakeSimGridBoard = Board* (*)(const Folding& folding, BoardUser& user);
inline constexpr const char* kMakeSimGridBoard = "stepsim_make_simgrid_board";

}  // namespace stepsim
