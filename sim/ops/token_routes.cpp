// Parts of the experts that the chosen ones fall on.
#include "sim/ops/token_routes.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// The probability that a draw of `drawn` of `all` misses `some` of them.
double misses(double all, double some, std::int64_t drawn) {
  double none = 1;
  for (std::int64_t i = 0; i < drawn; ++i) {
    const auto gone = static_cast<double>(i);
    none *= std::max(all - some - gone, 0.0) / std::max(all - gone, 1.0);
  }
  return none;
}

double choices(std::int64_t of, std::int64_t chosen) {
  double count = 1;
  for (std::int64_t i = 0; i < chosen; ++i)
    count *= static_cast<double>(of - i) / static_cast<double>(i + 1);
  return count;
}

}  // namespace

double parts_reached(const Experts& experts, int parts) {
  const auto groups = static_cast<double>(experts.groups);
  const auto chosen_groups = static_cast<double>(experts.top_groups);
  const double group = static_cast<double>(experts.count) / groups;
  const double candidates = group * chosen_groups;
  const double part = static_cast<double>(experts.count) / parts;
  if (part <= group)
    return parts * chosen_groups / groups * (1 - misses(candidates, part, experts.top_k));
  const auto of_part = static_cast<std::int64_t>(part / group);
  double reached = 0;
  const std::int64_t least =
      std::max<std::int64_t>(of_part + experts.top_groups - experts.groups, 0);
  for (std::int64_t i = least; i <= std::min(of_part, experts.top_groups); ++i) {
    const double chance = choices(of_part, i) *
                          choices(experts.groups - of_part, experts.top_groups - i) /
                          choices(experts.groups, experts.top_groups);
    reached += chance * (1 - misses(candidates, static_cast<double>(i) * group, experts.top_k));
  }
  return parts * reached;
}

}  // namespace stepsim
