// What predictions are worth when one has to choose: is the setting that is predicted to be the
// fastest the fastest?
//
// Measured runs that do the same job on the same machines, each in its own way, are the ways that
// somebody could have chosen from.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/scenario/suite/tolerance.hpp"

namespace stepsim {

struct ValidationRow;

/// The classes of pairs of ways, by how much slower the slower way was measured: each value begins
/// a class (0.02 is 2 %), and the last class has no end.
inline constexpr std::array kPairsFrom{0.0, 0.02, 0.05, 0.1};

struct PairOrder {
  int pairs = 0, in_order = 0;
};

/// A choice by prediction, and what it would have cost.
struct SuiteChoice {
  /// two rows: the one predicted to be the fastest, and the one measured to be
  std::size_t chosen = 0, best = 0;
  double loss = 0;  ///< measured time of the chosen row over that of the best, less one
};

struct Choices {
  int jobs = 0;     ///< jobs that were done in two ways or more
  int ways = 0;     ///< ways of all jobs together
  int fastest = 0;  ///< jobs where the way that is predicted to be the fastest is the fastest
  /// mean loss of the jobs; where several ways are predicted alike, the mean of their losses counts
  double loss = 0;
  double blind_loss = 0;  ///< mean loss where every way of a job is as likely to be chosen
  SuiteChoice worst;      ///< the choice with the largest loss
  std::array<PairOrder, kPairsFrom.size()> pairs;  ///< pairs of ways of one job, by `kPairsFrom`
};

/// The choices that predictions make among the rows with a prediction, each suite and each software
/// by itself. Rows that are known not to be met are left out unless `with_known`. Runs that are predicted alike
/// were done in one way and measured again: they count as one, with the mean of their times.
Choices choices_of(const std::vector<ValidationRow>& rows, bool with_known);

/// The choices as a suite's record keeps them; `suite` is empty for no suite in particular.
RecordedChoices recorded(const std::string& suite, bool with_known, const Choices& choices);

/// The choices of all suites together; each job counts as much as another.
RecordedChoices sum_of(const std::vector<RecordedChoices>& choices);

}  // namespace stepsim
