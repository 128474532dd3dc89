// An index of names.
#include "sim/plan/program/plan_names.hpp"

namespace stepsim {

PlanNames::PlanNames(std::vector<std::string>& names) : names_(names) {
  for (std::uint32_t i = 0; i < names.size(); ++i) index_.emplace(names[i], i);
}

std::uint32_t PlanNames::operator()(const std::string& name) {
  const auto [entry, is_new] = index_.emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return entry->second;
}

}  // namespace stepsim
