// Durations as people write them.
#include "calib/harness/budget.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "sim/core/error.hpp"

namespace stepsim::calib {

double parse_duration(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"s", 1}, {"min", 60}, {"h", 3600}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  const auto found = kUnits.find(unit);
  if (end == text.c_str() || found == kUnits.end() || !std::isfinite(number) || number <= 0)
    throw UserError(
        fmt::format("'{}' is not a duration; write \"10 min\", \"90 s\" or \"1.5 h\"", text));
  return number * found->second;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds < 0 ? 0 : seconds);
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

Budget::Clock Budget::steady_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

}  // namespace stepsim::calib
