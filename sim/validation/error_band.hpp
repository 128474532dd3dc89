// The range in which a step lies in 80 of 100 cases, as far as measured runs of others tell.
//
// Whoever asks is a source that nobody had seen. Errors of one source hang together, so that a
// hundred rows of one say less than ten rows of ten. The range is therefore one for a new source:
// quantiles of the errors of all sources, each of the same weight but for how like their runs are,
// and wider the fewer sources stand behind it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

struct ErrorBand {
  double least = 1, most = 1;  ///< of predicted over measured time
  /// What the run has and no measured run of its kind of model had: "fast fabric", "4096 GPUs". Each
  /// makes the range wider.
  std::vector<std::string> unseen;
};

/// How much wider the range is for a run that has what no measured run had: of rows with more GPUs
/// than any other source has, or of a kind of model that no other has, two thirds lie in the range
/// without it, and four fifths with it.
inline constexpr double kUnseenFactor = 1.3;

/// The range for a run of these traits. Absent where no run can be compared with it, and where all
/// are of one source. Rows that are known not to be met are left out, and rows are taken as
/// predicted without what their source measured of its own machines.
std::optional<ErrorBand> error_band(const RunTraits& traits, const std::vector<RecordedRuns>& runs);

/// How many rows of a family lie in the range that all other sources give for them.
struct BandCoverage {
  std::string family;  ///< "hopper"; "all"
  int rows = 0, inside = 0;
  double width = 0;  ///< mean of most less least
  double share() const { return rows == 0 ? 0 : static_cast<double>(inside) / rows; }
};

/// The coverage of all rows, then of each generation, kind of model, size of layers and precision.
/// Empty where no row has a range.
std::vector<BandCoverage> band_coverage(const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
