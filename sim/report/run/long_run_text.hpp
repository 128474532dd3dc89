// Checkpoints and long runs in words.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// "53.2 s", "14.6 min", "3.25 h", "12 days": longer than steps.
std::string span_text(Seconds time);

/// REQUIRES: a checkpoint.
std::string checkpoint_text(const Metrics& metrics);

/// Paragraphs. REQUIRES: a long run.
std::vector<std::string> long_run_text(const Metrics& metrics);

}  // namespace stepsim
