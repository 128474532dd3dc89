// Opening and closing windows.
#include "sim/plan/group/link_windows.hpp"

#include <algorithm>

namespace stepsim {

OpenWindows::OpenWindows(const std::vector<LinkWindow>& windows) {
  for (const LinkWindow& window : windows) states_.push_back({window});
}

/// Dates are products, not sums of periods, so that they do not drift.
double OpenWindows::State::next() const {
  if (rounds > 0 && window.period <= 0) return std::numeric_limits<double>::infinity();
  return (open ? window.until : window.from) + static_cast<double>(rounds) * window.period;
}

double OpenWindows::next() const {
  double next = std::numeric_limits<double>::infinity();
  for (const State& state : states_) next = std::min(next, state.next());
  return next;
}

double OpenWindows::factor_of(LinkId link) const {
  double factor = 1;
  for (const State& state : states_) {
    if (state.open && state.window.link == link) factor *= state.window.factor;
  }
  return factor;
}

std::vector<std::pair<LinkId, double>> OpenWindows::pass() {
  const double date = next();
  std::vector<LinkId> links;
  for (State& state : states_) {
    while (state.next() <= date) {
      if (state.open) ++state.rounds;
      state.open = !state.open;
      links.push_back(state.window.link);
    }
  }
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  std::vector<std::pair<LinkId, double>> changes;
  for (const LinkId link : links) changes.emplace_back(link, factor_of(link));
  return changes;
}

}  // namespace stepsim
