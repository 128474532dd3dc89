// Links that are slow for a while, once or again and again.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// From `from` to `until` the link has `factor` of its bandwidth; again each time that `period` has
/// passed, if it is greater than 0.
struct LinkWindow {
  LinkId link = 0;
  double factor = 1;
  double from = 0, until = 0, period = 0;
};

/// Windows in the order of their dates: which are open, and what changes next.
class OpenWindows {
 public:
  explicit OpenWindows(const std::vector<LinkWindow>& windows);

  /// The date of the next change; infinity when there is none.
  double next() const;
  /// Passes that date: the links that change, and the product of the factors that they have now.
  std::vector<std::pair<LinkId, double>> pass();

 private:
  struct State {
    LinkWindow window;
    bool open = false;
    std::int64_t rounds = 0;  ///< times that it has closed
    double next() const;
  };
  double factor_of(LinkId link) const;

  std::vector<State> states_;
};

}  // namespace stepsim
