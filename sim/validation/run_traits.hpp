// The traits of a scenario by which errors of predictions differ.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

RunTraits traits_of(const Scenario& scenario);

}  // namespace stepsim
