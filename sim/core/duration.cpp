// Reads a duration as a number and a unit.
#include "sim/core/duration.hpp"

#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/trim.hpp"

namespace stepsim {
namespace {

constexpr double kDay = 86'400;
constexpr double kMost = 1e6 * 365.25 * kDay;

/// Seconds of each unit: the units of scenarios, and days and weeks.
const std::map<std::string, double>& units() {
  static const std::map<std::string, double> kUnits = {
      {"ns", 1e-9},   {"us", 1e-6},       {"ms", 1e-3},       {"s", 1},
      {"min", 60},    {"h", 3600},        {"d", kDay},        {"day", kDay},
      {"days", kDay}, {"week", 7 * kDay}, {"weeks", 7 * kDay}};
  return kUnits;
}

[[noreturn]] void refuse(const std::string& message, const std::string& proposal = "") {
  throw UserError({Diagnostic{.message = message, .proposal = proposal}});
}

double factor_of(const std::string& unit, const std::string& number, const std::string& text) {
  const auto found = units().find(unit);
  if (found != units().end()) return found->second;
  if (unit.empty())
    refuse(fmt::format("{} has no unit of time", quoted(text)),
           fmt::format("write \"{} s\"", number));
  std::vector<std::string> known;
  for (const auto& [name, ignored] : units()) known.push_back(name);
  refuse(fmt::format("{}: {} is not a unit of time", quoted(text), quoted(unit)),
         did_you_mean(unit, known));
}

}  // namespace

double parse_duration(const std::string& text) {
  const std::string whole = trimmed(text);
  double number = 0;
  const char* const end = whole.data() + whole.size();
  const auto read = std::from_chars(whole.data(), end, number);
  if (read.ec == std::errc::invalid_argument || std::isnan(number))
    refuse(fmt::format("{} is not a duration", quoted(text)),
           "write \"10 min\", \"90 s\", \"1.5 h\" or \"30 days\"");
  const double seconds = number * factor_of(trimmed(std::string(read.ptr, end)),
                                            std::string(whole.data(), read.ptr), text);
  if (read.ec != std::errc() || seconds > kMost)
    refuse(
        fmt::format("{} is more than a million years, or too small to tell from 0", quoted(text)));
  if (seconds <= 0) refuse(fmt::format("{} is not above 0", quoted(text)));
  return seconds;
}

double duration_of(const std::string& option, const std::string& text) {
  try {
    return parse_duration(text);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", option, error.what()));
  }
}

}  // namespace stepsim
