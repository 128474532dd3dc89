// What a sweep looks for: a number of a point, and whether less or more of it is better.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// What is looked for. Writers ask for it where an objective has words or units of its own.
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
  const char* name;    ///< name in --objective: "step_time"
  const char* column;  ///< column of results: "step_time_s"
  const char* title;   ///< title in reports: "step time"
  bool is_less_better;
  /// the number in base units; a point has none where it is not above 0
  double (*value)(const PointNumbers& numbers);
  bool better(double a, double b) const { return is_less_better ? a < b : a > b; }
};

std::span<const Objective> objectives();

/// The objective with that name. Throws UserError where there is none.
const Objective& objective_of(const std::string& name);

}  // namespace stepsim
