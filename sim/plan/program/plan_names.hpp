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
  explicit PlanNames(std::vector<std::string>& names);
  /// The name's index.
  std::uint32_t operator()(const std::string& name);

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> index_;
};

}  // namespace stepsim
