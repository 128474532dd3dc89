// A strategy that may be the best, with what it takes at least, and the order in which they are tried.
#pragma once

#include <cstdint>
#include <tuple>

#include "sim/search/bound.hpp"

namespace stepsim {

struct Candidate {
  Bound bound;
  std::int64_t number = 0;  ///< in the order of the walk: ties go to the first
  Strategy strategy;
  bool is_refined = false;  ///< the bound is a closer one
};

inline bool comes_before(const Candidate& a, const Candidate& b) {
  return std::tuple(a.bound.step, a.number) < std::tuple(b.bound.step, b.number);
}
/// Orders heaps, whose front comes first.
inline bool comes_after(const Candidate& a, const Candidate& b) { return comes_before(b, a); }

}  // namespace stepsim
