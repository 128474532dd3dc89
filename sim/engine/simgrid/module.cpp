// The function by which a program that has loaded this module gets a board of SimGrid's.
#include "sim/engine/simgrid/module.hpp"

#include "sim/engine/simgrid/simgrid_board.hpp"

extern "C" stepsim::Board* stepsim_make_simgrid_board(const stepsim::Folding& folding,
                                                      stepsim::BoardUser& user) {
  return new stepsim::SimGridBoard(folding, user);
}
