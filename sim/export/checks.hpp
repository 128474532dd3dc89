// Plans that a framework's own checks refuse before the first step.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A rule of a framework.
struct Check {
  bool refuses;         ///< the plan breaks it
  std::string message;  ///< "KEY: VALUE: WHY"
};

/// Throws UserError with the messages of all checks that refuse.
void throw_refusals(const std::vector<Check>& checks);

/// Throws UserError with what Megatron-LM refuses when it has parsed its options.
void refuse_what_megatron_checks(const Scenario& scenario);

/// Throws UserError with what torchtitan refuses when it shards the model of that name.
void refuse_what_torchtitan_checks(const Scenario& scenario, const std::string& model);

}  // namespace stepsim
