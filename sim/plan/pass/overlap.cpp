// Alternating between two segments.
#include "sim/plan/pass/overlap.hpp"

#include <algorithm>
#include <variant>

namespace stepsim {
namespace {

/// Behind the next end of a turn.
std::size_t end_of_turn(const Segment& segment, std::size_t begin) {
  const auto ends = [](const Piece& piece) { return std::holds_alternative<TurnPiece>(piece); };
  const auto from = segment.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = std::find_if(from, segment.end(), ends);
  return static_cast<std::size_t>(last - segment.begin()) + (last == segment.end() ? 0 : 1);
}

}  // namespace

std::vector<Turn> take_turns(const std::array<const Segment*, 2>& passes) {
  std::vector<Turn> turns;
  std::array<std::size_t, 2> at{};
  const auto is_through = [&](std::size_t pass) { return at[pass] == passes[pass]->size(); };
  for (std::size_t pass = 0; !is_through(0) || !is_through(1); pass = 1 - pass) {
    if (is_through(pass)) continue;
    const std::size_t begin = at[pass];
    at[pass] = end_of_turn(*passes[pass], begin);
    turns.push_back({pass, begin, at[pass]});
  }
  return turns;
}

}  // namespace stepsim
