// What does not fit about recompute.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A key and what is wrong with it.
struct Objection {
  std::string path;
  std::string message;
  std::string proposal;
};

/// `layers`: of each part of the model that a stage holds; empty where that is not known.
std::vector<Objection> recompute_objections(const Scenario& scenario,
                                            const std::vector<std::int64_t>& layers);

}  // namespace stepsim
