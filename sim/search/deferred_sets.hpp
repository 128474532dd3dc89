// Strategies that repeat a set of modules wait for the same one without recompute: it does less, so
// that they are of use only where it does not fit in memory.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/search/best_first.hpp"

namespace stepsim {

class DeferredSets {
 public:
  void begin_frame() { plain_.clear(); }
  /// A strategy of the frame without recompute: a candidate, or one that was simulated and fits.
  void add_plain(const Strategy& strategy, bool fits = false) {
    plain_.emplace_back(strategy, fits);
  }

  enum class Fate { candidate, waits, dominated };
  Fate fate_of(const Strategy& strategy, const Bound& bound) {
    if (strategy.modules == ModuleSet::stated) return Fate::candidate;
    const auto plain = std::ranges::find(plain_, plain_of(strategy), &Plain::first);
    if (plain == plain_.end()) return Fate::candidate;
    if (plain->second) return Fate::dominated;
    waiting_.push_back({strategy, bound, {}});
    return Fate::waits;
  }

  /// Those that waited for this one: nobody waits for it any more.
  std::vector<TriedStrategy> take(const Strategy& plain) {
    std::vector<TriedStrategy> taken;
    std::erase_if(waiting_, [&](const TriedStrategy& one) {
      if (plain_of(one.strategy) != plain) return false;
      taken.push_back(one);
      return true;
    });
    return taken;
  }

  const std::vector<TriedStrategy>& waiting() const { return waiting_; }

 private:
  using Plain = std::pair<Strategy, bool>;  ///< whether it fits

  static Strategy plain_of(Strategy strategy) {
    strategy.recompute = Recompute::none;
    strategy.modules = ModuleSet::stated;
    return strategy;
  }

  std::vector<Plain> plain_;  ///< of the frame
  std::vector<TriedStrategy> waiting_;
};

}  // namespace stepsim
