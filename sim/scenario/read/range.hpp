// Ranges of values in words, with the unit that the values have, and proposals that lie in them.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

/// One end of a range, given in the base unit: "1 KB/s"; zero needs no unit.
template <class T>
std::string limit_text(double limit) {
  if constexpr (requires { dimension_of(T{}); }) {
    if (limit != 0) return write_quantity(limit, dimension_of(T{}));
  } else if constexpr (std::same_as<T, SampleTime>) {
    return limit_text<Seconds>(limit);
  } else if constexpr (requires(T extent) { extent.least; }) {
    return limit_text<decltype(T{}.least)>(limit);
  }
  return fmt::format("{}", limit);
}

/// "between 1 KB/s and 1e+18 B/s"; "" when everything is admitted, or nothing is measured.
template <class T>
std::string range_text(const Rules& rules) {
  if constexpr (!Measurable<T>) return "";
  return rules.text([](double limit) { return limit_text<T>(limit); });
}

/// A proposal to write what the rules refuse becomes what the rules want: '0' has no unit, and 0
/// MiB is none either.
template <class T>
void check_proposal(Mistake& mistake, const Rules& rules) {
  constexpr std::string_view kWrite = "write \"";
  const std::string& proposal = mistake.proposal;
  const bool is_one =
      proposal.starts_with(kWrite) && proposal.find('"', kWrite.size()) == proposal.size() - 1;
  if (!is_one) return;
  try {
    T value{};
    read_scalar(proposal.substr(kWrite.size(), proposal.size() - kWrite.size() - 1), value);
    if (!rules.admits(magnitude(value))) mistake.proposal = "and must be " + range_text<T>(rules);
  } catch (const Mistake&) {
    mistake.proposal.clear();
  }
}

}  // namespace stepsim
