// Words that the writers of a validation share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/scenario/suite/tolerance.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/validation/error_band.hpp"
#include "sim/validation/source_errors.hpp"
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

/// "38 of 1,309 rows ran and are predicted not to fit in memory, by suite: pax 30, mpt 8." Empty
/// where all rows are predicted to fit.
inline std::string fit_words(int rows,
                             const std::vector<std::pair<std::string, int>>& not_fitting) {
  int count = 0;
  std::string suites;
  for (const auto& [suite, own] : not_fitting) {
    if (own == 0) continue;
    count += own;
    suites += fmt::format("{}{} {}", suites.empty() ? "" : ", ", suite, grouped(own));
  }
  if (count == 0) return "";
  return fmt::format("{} of {} rows ran and {} predicted not to fit in memory, by suite: {}.",
                     grouped(count), grouped(rows), count == 1 ? "is" : "are", suites);
}
inline std::string fit_words(const Validation& validation) {
  std::vector<std::pair<std::string, int>> not_fitting;
  for (const SuiteResult& suite : validation.suites)
    not_fitting.emplace_back(suite.name, static_cast<int>(suite.score.not_fitting.size()));
  return fit_words(validation.total.all.count, not_fitting);
}

/// Sentences about the rows that are expected to be met, and about all rows; empty where no job was
/// done in two ways.
std::string choice_words(const RecordedChoices& expected, const RecordedChoices& all);

/// Sentences about sources that nobody had seen; empty without rows that are expected to be met.
std::string source_words(const SourceErrors& errors);

/// "Of 1,169 runs 81 % are within the 80 % range that the other sources give for them: ampere 80 %
/// of 387, ...". REQUIRES: not empty.
std::string band_words(const std::vector<BandCoverage>& coverage);

/// "-0.41 ± 0.10 points (57 rows of 9 jobs on 4 numbers of GPUs)", what a doubling of GPUs adds.
std::string growth_words(const Growth& growth);

}  // namespace stepsim
