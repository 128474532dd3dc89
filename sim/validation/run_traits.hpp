// What kind of run a scenario is, as far as errors of predictions go by it.
#pragma once

#include "sim/scenario/run_record.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

RunTraits traits_of(const Scenario& scenario);

}  // namespace stepsim
