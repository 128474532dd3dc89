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
  std::string file;  ///< file of the row; empty: the breach is about the suite as a whole
  int line = 0;
  std::string limit = {};  ///< the limit that the suite as a whole breaks: "median"
};

/// The limits that a suite states, for the rows that are expected to be met. `row` is the largest
/// error.
std::vector<SuiteLimit> limits_of(const Score& score, const Tolerance& tolerance);

/// The rows that have no prediction or break the limit of a row, and the limits of the whole suite
/// that are broken. Rows that are known not to be met break nothing. `is_whole` is false for a part
/// of a suite's rows, of which only rows are judged.
std::vector<Breach> breaches_of(const std::vector<ValidationRow>& rows, const Score& score,
                                const Tolerance& tolerance, bool is_whole);

/// What a suite's score leaves in the record: errors of all rows, those that are known not to be
/// met among them.
std::vector<RecordedErrors> recorded(const std::string& suite, const Score& score);

/// The groups that got worse than the record. A group may get worse by 0.3 points and a twentieth
/// of its mean, as it does when the kernels' constants change by less than their own error
/// (judgement). Groups that the record does not have are breaches too, and so are more rows of a
/// suite that are predicted not to fit in memory.
inline constexpr double kMarginPoints = 0.003, kMarginShare = 0.05;
std::vector<Breach> worse_than(const std::vector<RecordedErrors>& record,
                               const std::vector<RecordedErrors>& now);

/// The suites whose choices lose more than in the record; the loss may grow by 0.3 points.
std::vector<Breach> worse_than(const std::vector<RecordedChoices>& record,
                               const std::vector<RecordedChoices>& now);

/// One line for each group whose mean differs from the record; empty when none does.
std::string difference(const std::vector<RecordedErrors>& record,
                       const std::vector<RecordedErrors>& now);

/// `record`, with the suites in `now` replaced; suites that were not scored stay.
std::vector<RecordedErrors> updated(const std::vector<RecordedErrors>& record,
                                    const std::vector<RecordedErrors>& now);

/// One line for each suite whose choices lose more or less than in the record, or are new.
std::string difference(const std::vector<RecordedChoices>& record,
                       const std::vector<RecordedChoices>& now);

/// `record`, with the choices of the suites `scored` replaced by those in `now`, which may have
/// none for a suite.
std::vector<RecordedChoices> updated(const std::vector<RecordedChoices>& record,
                                     const std::vector<RecordedChoices>& now,
                                     const std::vector<std::string>& scored);

/// `record`, with the slopes of the suites `scored` replaced by those in `now`, which may have none
/// for a suite.
std::vector<RecordedGrowth> updated(const std::vector<RecordedGrowth>& record,
                                    const std::vector<RecordedGrowth>& now,
                                    const std::vector<std::string>& scored);

/// The choices of a suite's score, with and without the rows that are known not to be met; empty
/// where no job was measured in two ways.
std::vector<RecordedChoices> recorded_choices(const std::string& suite, const Score& score);

}  // namespace stepsim
