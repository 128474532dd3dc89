// Chooses the board. SimGrid comes with libraries that take most of a start, so that it is a
// module.
#include "sim/core/system/module.hpp"
#include "sim/engine/exact_board.hpp"
#include "sim/engine/simgrid/module.hpp"

namespace stepsim {

std::unique_ptr<Board> make_board(EngineKind kind, const Folding& folding, BoardUser& user) {
  if (kind == EngineKind::exact) return std::make_unique<ExactBoard>(folding, user);
  static const auto make =
      reinterpret_cast<MakeSimGridBoard>(load_from_module("simgrid", kMakeSimGridBoard));
  return std::unique_ptr<Board>(make(folding, user));
}

}  // namespace stepsim
