// Counterfactual plans: the same tasks with one resource made infinitely fast.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

Plan with_free_network(Plan plan);   ///< every collective and transfer takes no time
Plan with_free_input(Plan plan);     ///< batches are read, decoded and copied in no time
Plan with_free_launches(Plan plan);  ///< the host launches in no time

}  // namespace stepsim
