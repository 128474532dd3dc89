// Parts of a result as JSON that other results have, too.
#pragma once

#include <vector>

#include "sim/report/json_number.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// What was simulated: model, GPUs, split and attention.
Json job_json(const Metrics& metrics);
/// By the name of the axis: bytes, busy and exposed time of a mean step.
Json communication_json(const Metrics& metrics);
Json stragglers_json(const std::vector<Straggler>& stragglers);
Json verdict_json(const Verdict& verdict);
Json engine_json(const EngineStats& engine);
/// The expected error; null without a record. Where no run is like this one, only counts are
/// stated.
Json expected_error_json(const Metrics& metrics);
Json assumed_json(const Metrics& metrics);
/// Name and title of each cause, in their order.
Json cause_titles_json();

}  // namespace stepsim
