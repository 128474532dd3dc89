// What a sweep looks for: a number of a point, and whether less or more of it is better.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// What is looked for: writers ask for it where its words or units are its own.
enum class Aim : std::uint8_t {
  step_time,
  mfu,
  tokens_per_s,
  samples_per_s,
  tokens_per_s_per_gpu,
  memory,
  cost
};

struct Objective {
  Aim aim;
  const char* name;    ///< as --objective has it, and the column of results: "step_time"
  const char* column;  ///< "step_time_s"
  const char* title;   ///< "step time"
  bool is_less_better;
  double (*value)(const PointNumbers& numbers);  ///< in base units; not above 0: it has none
  bool better(double a, double b) const { return is_less_better ? a < b : a > b; }
};

std::span<const Objective> objectives();

/// Throws UserError for another name.
const Objective& objective_of(const std::string& name);

}  // namespace stepsim
