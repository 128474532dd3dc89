// A suite's score against its limits, and against what was recorded.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/suite/tolerance.hpp"
#include "sim/validation/score.hpp"

namespace stepsim {

/// A sentence about what is not as it should be, and the row that it is about.
struct Breach {
  std::string suite;
  std::string sentence;
  std::string file;  ///< empty: the suite as a whole
  int line = 0;
  std::string limit = {};  ///< "median": of the suite as a whole
};

/// Each limit that is stated, of the rows that are expected to be met. `row` is the largest error.
std::vector<SuiteLimit> limits_of(const Score& score, const Tolerance& tolerance);

/// Rows that have no prediction or break the limit of a row, and limits of the whole that are
/// broken. Rows that are known do neither. `is_whole`: false for a part of a suite's rows, of which
/// only rows are judged.
std::vector<Breach> breaches_of(const std::vector<ValidationRow>& rows, const Score& score,
                                const Tolerance& tolerance, bool is_whole);

/// What a suite's score leaves in the record: errors of all rows, also of those that are known.
std::vector<RecordedErrors> recorded(const std::string& suite, const Score& score);

/// A group may get worse by 0.3 points and a twentieth of its mean, which is what a change of the
/// kernels' constants by less than their own error does (judgement). Groups that the record does
/// not have are breaches too, and so are more rows of a suite that are predicted not to fit in
/// memory.
inline constexpr double kMarginPoints = 0.003, kMarginShare = 0.05;
std::vector<Breach> worse_than(const std::vector<RecordedErrors>& record,
                               const std::vector<RecordedErrors>& now);

/// The same of choices: what they lose may grow by the same 0.3 points.
std::vector<Breach> worse_than(const std::vector<RecordedChoices>& record,
                               const std::vector<RecordedChoices>& now);

/// One line for each group whose mean is another than in the record; empty when none is.
std::string difference(const std::vector<RecordedErrors>& record,
                       const std::vector<RecordedErrors>& now);

/// `record` with what its suites are now; suites that were not scored stay.
std::vector<RecordedErrors> updated(const std::vector<RecordedErrors>& record,
                                    const std::vector<RecordedErrors>& now);

/// One line for each suite whose choices lose more or less than in the record, or are new.
std::string difference(const std::vector<RecordedChoices>& record,
                       const std::vector<RecordedChoices>& now);

/// As `updated` of errors, for choices; of `scored`, suites of which there may be none now.
std::vector<RecordedChoices> updated(const std::vector<RecordedChoices>& record,
                                     const std::vector<RecordedChoices>& now,
                                     const std::vector<std::string>& scored);

/// Both of a suite's score, or none where no job was measured in two ways.
std::vector<RecordedChoices> recorded_choices(const std::string& suite, const Score& score);

}  // namespace stepsim
