// Strategies that repeat a set of modules wait for the same one without recompute: it does less, so
// that they are of use only where it does not fit in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/search/best_first.hpp"

namespace stepsim {

class DeferredSets {
 public:
  struct Waiting {
    Strategy strategy;
    Bound bound;
    std::int64_t plain = 0;  ///< number of what it waits for
  };

  void begin_frame() { plain_.clear(); }
  /// A strategy of the frame without recompute: a candidate of that number, or without one, what was
  /// simulated and fits.
  void add_plain(const Strategy& strategy, std::optional<std::int64_t> number = {}) {
    plain_.push_back({strategy, number});
  }

  enum class Fate { candidate, waits, dominated };
  Fate fate_of(const Strategy& strategy, const Bound& bound) {
    if (strategy.modules == ModuleSet::stated) return Fate::candidate;
    const auto plain = std::ranges::find(plain_, plain_of(strategy), &Plain::strategy);
    if (plain == plain_.end()) return Fate::candidate;
    if (!plain->number) return Fate::dominated;
    waiting_.push_back({strategy, bound, *plain->number});
    return Fate::waits;
  }

  /// Takes out all strategies that wait for `plain`.
  std::vector<Waiting> take(const Strategy& plain) {
    std::vector<Waiting> taken;
    std::erase_if(waiting_, [&](const Waiting& one) {
      if (plain_of(one.strategy) != plain) return false;
      taken.push_back(one);
      return true;
    });
    return taken;
  }

  const std::vector<Waiting>& waiting() const { return waiting_; }

 private:
  struct Plain {
    Strategy strategy;
    std::optional<std::int64_t> number;
  };

  static Strategy plain_of(Strategy strategy) {
    strategy.recompute = Recompute::none;
    strategy.modules = ModuleSet::stated;
    return strategy;
  }

  std::vector<Plain> plain_;  ///< of the frame
  std::vector<Waiting> waiting_;
};

}  // namespace stepsim
