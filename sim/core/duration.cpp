// A number and a unit.
#include "sim/core/duration.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "sim/core/error.hpp"

namespace stepsim {

double parse_duration(const std::string& text) {
  static const std::map<std::string, double> kUnits = {
      {"ms", 1e-3},  {"s", 1},        {"min", 60},     {"h", 3600},
      {"d", 86'400}, {"day", 86'400}, {"days", 86'400}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  const auto found = kUnits.find(unit);
  if (end == text.c_str() || found == kUnits.end() || !std::isfinite(number))
    throw UserError(fmt::format(
        "'{}' is not a duration; write \"10 min\", \"90 s\", \"1.5 h\" or \"30 days\"", text));
  if (number <= 0) throw UserError(fmt::format("'{}' is not above 0", text));
  return number * found->second;
}

}  // namespace stepsim
