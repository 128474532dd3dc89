// What kind of run a scenario is, as far as errors of predictions go by it.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

RunTraits traits_of(const Scenario& scenario);

}  // namespace stepsim
