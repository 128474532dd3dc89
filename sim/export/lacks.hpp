// What a framework does not have of a plan.
#pragma once

#include "sim/export/exporter.hpp"

namespace stepsim {

/// Throws UserError with each key whose value the framework does not have
/// (sim/scenario/describe/framework_abilities.hpp), and with what it has instead.
void refuse_what_framework_lacks(const Exporter& exporter, const Scenario& scenario);

}  // namespace stepsim
