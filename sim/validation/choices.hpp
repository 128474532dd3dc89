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

/// By how much the slower of two ways was measured to be slower: 0.02 is 2 %. The last has no end.
inline constexpr std::array kPairsFrom{0.0, 0.02, 0.05, 0.1};

struct PairOrder {
  int pairs = 0, in_order = 0;
};

/// A choice by prediction, and what it would have cost.
struct Choice {
  std::size_t chosen = 0, best = 0;  ///< rows: predicted to be the fastest, and measured
  double loss = 0;                   ///< measured time of the chosen over the best's, less one
};

struct Choices {
  int jobs = 0;           ///< that were done in two ways or more
  int ways = 0;           ///< of all jobs
  int fastest = 0;        ///< jobs whose way that is predicted to be the fastest was it
  double loss = 0;        ///< mean over jobs; of ways that are predicted alike, their mean
  double blind_loss = 0;  ///< the same of a way taken blindly, each as likely
  Choice worst;           ///< the choice with the largest loss
  std::array<PairOrder, kPairsFrom.size()> pairs;  ///< of ways of one job, by `kPairsFrom`
};

/// Of the rows with a prediction, of each suite by itself; without those that are known not to be
/// met unless `with_known`. Runs that are predicted alike were done in one way, measured again:
/// they count as one, with the mean of their times.
Choices choices_of(const std::vector<ValidationRow>& rows, bool with_known);

/// Of one suite, or of none in particular.
RecordedChoices recorded(const std::string& suite, bool with_known, const Choices& choices);

/// Of all those suites together, each job as much as another.
RecordedChoices sum_of(const std::vector<RecordedChoices>& choices);

}  // namespace stepsim
