// How right the predictions are: errors of steps, and the order of settings that differ in one
// thing.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/errors.hpp"
#include "validate/trainer/selfcheck/setting.hpp"

namespace stepsim::selfcheck {

/// One setting in one pass over the grid: seconds of a step.
struct Try {
  double measured, predicted;
};

struct Row {
  Setting setting;
  /// one for each pass, in order; REQUIRES: not empty, as many as other rows
  std::vector<Try> tries;
};

/// The median of a row's passes: of the measured seconds, of the predicted ones, or of what each
/// pass is off.
double measured_seconds(const Row& row);
double predicted_seconds(const Row& row);
double error_of(const Row& row);

Errors errors_of(const std::vector<Row>& rows);

/// Rows that differ in one thing alone.
struct Family {
  std::string what;  ///< the one thing: "bucket" or "workers"
  std::vector<Row> rows;
};
std::vector<Family> families_of(const std::vector<Row>& rows);

/// Which of two rows is faster, over all pairs of rows of a family that were trained in the same
/// passes. The median of the measured ratios decides, which others who use the machine disturb less
/// than they do the times.
struct Order {
  int pairs = 0;  ///< all pairs of the family
  /// pairs above the noise: one row is faster in all passes, and by kDistinct in the median
  int decided = 0;
  int right = 0;  ///< decided pairs whose faster row is predicted to be faster
};
/// The least difference that counts. Judgement: medians of two runs on one machine differed by 3 %.
constexpr double kDistinct = 0.03;
Order order_of(const Family& family);
/// The time of the setting that is predicted to be the fastest over the time of the fastest, less
/// one.
double regret_of(const Family& family);

/// The order of a family from the fastest to the slowest: "1 MiB < 4 MiB < 12 MiB".
std::string ranking_text(const Family& family, double (*seconds)(const Row&));

}  // namespace stepsim::selfcheck
