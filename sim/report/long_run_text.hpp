// Checkpoints and long runs in words.
#pragma once

#include <string>
#include <vector>

#include "sim/report/metrics.hpp"

namespace stepsim {

/// REQUIRES: a checkpoint.
std::string checkpoint_text(const Metrics& metrics);

/// Paragraphs. REQUIRES: a long run.
std::vector<std::string> long_run_text(const Metrics& metrics);

}  // namespace stepsim
