// Names of a plan's tasks, kernels and operations, each stored once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stepsim {

class PlanNames {
 public:
  /// `names`: Plan::names, which it adds to.
  explicit PlanNames(std::vector<std::string>& names) : names_(names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) index_.emplace(names[i], i);
  }

  /// The name's index.
  std::uint32_t operator()(const std::string& name) {
    const auto [entry, is_new] = index_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> index_;
};

}  // namespace stepsim
