// How right the predictions are: errors of steps, and the order of settings that differ in one
// thing.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/errors.hpp"
#include "validate/trainer/selfcheck/setting.hpp"

namespace stepsim::selfcheck {

/// A setting in one pass over the grid: seconds of a step.
struct Try {
  double measured, predicted;
};

struct Row {
  Setting setting;
  std::vector<Try> tries;  ///< one a pass, in order; REQUIRES: not empty, as many as other rows
};

/// Medians over the passes; of the error, of what each pass is off.
double measured_seconds(const Row& row);
double predicted_seconds(const Row& row);
double error_of(const Row& row);

Errors errors_of(const std::vector<Row>& rows);

/// Rows that differ in one thing alone.
struct Family {
  std::string what;  ///< "bucket" or "workers"
  std::vector<Row> rows;
};
std::vector<Family> families_of(const std::vector<Row>& rows);

/// Of two rows of a family that were trained in the same passes, which is faster: by median, of the
/// measured ratios, which others who use the machine disturb less than they do the times.
struct Order {
  int pairs = 0;    ///< all of the family
  int decided = 0;  ///< above the noise: the same row is faster in all passes, and by kDistinct in
                    ///< the median
  int right = 0;    ///< and predicted to be
};
/// Judgement: medians of two runs on one machine differed by 3 %.
constexpr double kDistinct = 0.03;
Order order_of(const Family& family);
/// What the setting that is predicted to be the fastest takes, over the fastest, less one.
double regret_of(const Family& family);

/// "1 MiB < 4 MiB < 12 MiB": from the fastest to the slowest.
std::string ranking_text(const Family& family, double (*seconds)(const Row&));

}  // namespace stepsim::selfcheck
