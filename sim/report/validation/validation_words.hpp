// Words that the writers of a validation share.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

#include "sim/report/run/fit_words.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/validation/validation.hpp"

namespace stepsim {

/// A time in four digits, because errors of 1 % are looked at: "3.970 s".
inline std::string time_text(Seconds time) {
  const Column column = column_for(time);
  return column.text(time.seconds());
}
/// A time in four digits, or "-" where a row has none.
inline std::string time_text(const std::optional<Seconds>& time) {
  return time ? time_text(*time) : "-";
}
/// The remark on a row beside its error: why it is known, or what stands out.
inline std::string remark_of(const ValidationRow& row, const std::vector<ValidationRow>& others) {
  if (!row.predicted) return row.known.empty() ? row.reason : "known: " + row.known;
  return row.known.empty() ? likely_cause(row, others) : "known: " + row.known;
}

/// How many rows of all suites are predicted not to fit in memory; empty where all fit.
inline std::string fit_words(const Validation& validation) {
  std::vector<std::pair<std::string, int>> not_fitting;
  for (const SuiteResult& suite : validation.suites)
    not_fitting.emplace_back(suite.name, static_cast<int>(suite.score.not_fitting.size()));
  return fit_words(validation.total.all.count, not_fitting);
}

}  // namespace stepsim
