// Checkpoints and long runs in words.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// A time longer than a step as text: "53.2 s", "14.6 min", "3.25 h", "12 days".
std::string span_text(Seconds time);

/// A sentence about checkpoints. REQUIRES: a checkpoint.
std::string checkpoint_text(const Metrics& metrics);

/// Paragraphs about the long run. REQUIRES: a long run.
std::vector<std::string> long_run_text(const Metrics& metrics);

}  // namespace stepsim
