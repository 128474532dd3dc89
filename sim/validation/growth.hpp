// Whether errors grow with the number of GPUs.
//
// Large runs are often of large models, so that a line through all errors would tell of models. Each
// run is therefore compared with runs of the same job on other numbers of GPUs.
#pragma once

#include <optional>
#include <vector>

namespace stepsim {

struct ValidationRow;

/// The least-squares slope of errors with signs over log2(GPUs), where each job has a level of its
/// own.
struct Growth {
  int rows = 0;             ///< rows of jobs with two numbers of GPUs or more
  int jobs = 0;             ///< such jobs
  int sizes = 0;            ///< numbers of GPUs of these rows
  double slope = 0;         ///< of relative errors, for each doubling
  double uncertainty = 0;   ///< the slope's standard error
  bool is_as_split = true;  ///< jobs are equal in all but size; false: also split in other ways
};

/// The fewest numbers of GPUs that make a slope.
inline constexpr int kSizesOfSlope = 3;

/// The slope over one suite's rows that are expected to be met. Jobs are rows that differ in size
/// alone (sizeless_fingerprint); where these have fewer than three numbers of GPUs, rows that may
/// be split in other ways, too. Absent where that leaves fewer than three, too, or no more rows
/// than the fit has levels and slope. Rows of several suites are jobs of several suites.
std::optional<Growth> growth_of(const std::vector<ValidationRow>& rows);

}  // namespace stepsim
