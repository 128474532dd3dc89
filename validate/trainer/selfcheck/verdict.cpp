// Decides between passed, failed and skipped, and says why.
#include "validate/trainer/selfcheck/verdict.hpp"

#include <fmt/format.h>

namespace stepsim::selfcheck {
namespace {

std::string errors_text(const Errors& errors, double limit) {
  return fmt::format("mean {:.1f} % (limit {:.0f} %), median {:.1f} %, largest {:.1f} %\n",
                     errors.mean * 100, limit * 100, errors.median * 100, errors.max * 100);
}

/// Why a selfcheck has not passed. REQUIRES: it has not.
std::string fault_text(bool is_within, bool in_order) {
  if (is_within) return "an order that stands out of the noise is predicted wrong";
  return in_order ? "the mean error is above its limit"
                  : "the mean error is above its limit, and an order is predicted wrong";
}

}  // namespace

std::string skipped_text(const std::string& why) {
  return fmt::format("skipped: {} (exit code {}: neither passed nor failed)\n", why, kSkipped);
}

Verdict verdict_of(const Errors& errors, const Limits& limits, bool in_order, double others) {
  const std::string text = errors_text(errors, limits.quiet);
  const bool is_within = errors.mean <= limits.quiet;
  if (is_within && in_order) return {kPassed, text + "passed\n"};
  const std::string fault = fault_text(is_within, in_order);
  const std::string used = fmt::format("others used {:.0f} % of the cores", others * 100);
  if (others <= kQuiet) return {kFailed, text + fmt::format("failed: {}; {}\n", fault, used)};
  if (errors.mean > limits.busy)
    return {kFailed, text + fmt::format("failed: the mean error is above {:.0f} %, its limit where "
                                        "others use the cores; {}\n",
                                        limits.busy * 100, used)};
  return {kSkipped, text + skipped_text(fmt::format("{}, and {}", used, fault))};
}

}  // namespace stepsim::selfcheck
