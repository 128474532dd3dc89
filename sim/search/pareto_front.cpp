// Every pair is compared.
#include "sim/search/pareto_front.hpp"

#include <algorithm>

namespace stepsim {
namespace {

bool dominates(const SizeCosts& a, const SizeCosts& b) {
  const bool as_good = a.gpus <= b.gpus && a.time <= b.time && a.cost <= b.cost;
  return as_good && (a.gpus < b.gpus || a.time < b.time || a.cost < b.cost);
}

}  // namespace

std::vector<bool> on_pareto_front(const std::vector<SizeCosts>& sizes) {
  std::vector<bool> on;
  for (const SizeCosts& size : sizes) {
    on.push_back(std::ranges::none_of(
        sizes, [&](const SizeCosts& other) { return dominates(other, size); }));
  }
  return on;
}

}  // namespace stepsim
