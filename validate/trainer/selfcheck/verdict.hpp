// What a selfcheck came to, in a sentence and an exit code.
#pragma once

#include <string>

#include "sim/validation/errors.hpp"

namespace stepsim::selfcheck {

/// Exit codes as ctest knows them (SKIP_RETURN_CODE).
inline constexpr int kPassed = 0, kFailed = 1, kSkipped = 77;

/// Limits of the mean error: on a machine with nothing else to do, and on one that others use.
struct Limits {
  double quiet, busy;
};

struct Verdict {
  int code;
  std::string text;  ///< lines, each with its end
};

/// The verdict of a selfcheck. `others` is the share of the cores' time that others had; up to
/// kQuiet the machine counts as quiet. Judgement: what an idle system does by itself stays below.
inline constexpr double kQuiet = 0.03;
Verdict verdict_of(const Errors& errors, const Limits& limits, bool in_order, double others);

/// The line that says why a check is skipped: "skipped: <why> (exit code 77: ...)".
std::string skipped_text(const std::string& why);

}  // namespace stepsim::selfcheck
