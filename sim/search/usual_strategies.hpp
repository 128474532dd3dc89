// The splits that people use: a search begins with them, so that it has a good answer early.
#pragma once

#include <functional>

#include "sim/search/best_first.hpp"
#include "sim/search/bound.hpp"

namespace stepsim {

/// The usual strategies with the lowest bounds, at most `most` and such as can fit in memory. Usual is:
/// tensor parallelism within a node, no context parallelism, pipelines of few stages with few
/// chunks or as many as there may be, small micro-batches, the optimizer's state or all of it sharded,
/// nothing or everything computed again. An axis that has none of its usual values has all of them.
std::vector<TriedStrategy> usual_strategies(const Axes& axes, const SearchBase& base,
                                            Bounds& bounds, Bytes capacity, std::size_t most,
                                            const std::function<bool()>& stops);

}  // namespace stepsim
