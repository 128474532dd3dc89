// Checkpoints and long runs as JSON.
#pragma once

#include "sim/report/json_number.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The checkpoint and the long run of a result; null where there is none.
Json checkpoint_json(const Metrics& metrics);
Json long_run_json(const Metrics& metrics);

}  // namespace stepsim
