// A point of a sweep: scenario -> op graph -> plan -> timeline -> its numbers.
#pragma once

#include <string>

#include "sim/core/error.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// Simulates the scenario. `cache`: of the points before it. Throws UserError where the planner
/// refuses it.
Outcome simulated_point(const Scenario& scenario, PlanCache& cache);

/// What became of a point, and the fingerprint of the scenario that it is, as a text to cross a
/// pipe.
struct PointAnswer {
  std::string scenario;
  Outcome outcome;  ///< ok, too large or refused
};
std::string text_of(const PointAnswer& answer);
/// Throws InternalError where it is no such text.
PointAnswer point_answer_of(const std::string& text);

/// A fingerprint of what a scenario resolves to, the profiles that it reads among it.
std::string fingerprint_of(const Scenario& scenario);

/// The first sentence about what is wrong.
std::string sentence_of(const UserError& error);

}  // namespace stepsim
