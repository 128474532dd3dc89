// Sentences about sources left out, and lines about growth.
#include <fmt/format.h>

#include "sim/report/validation/validation_words.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/validation/source_errors.hpp"

namespace stepsim {
namespace {

/// The fewest rows of a family whose share is told: of thirty, 80 % is 73 to 87 % by chance.
constexpr int kRowsOfFamily = 30;

}  // namespace

std::string source_words(const SourceErrors& errors) {
  const Errors &rows = errors.rows, &all = errors.with_known;
  if (rows.count == 0) return "";
  std::string text = fmt::format(
      "{} runs of {} sources, each predicted without what its source measured of its own machines: "
      "mean {}, median {}, 90th percentile {}, bias {}. Where each source counts the same: mean "
      "{}, bias {}.",
      grouped(rows.count), errors.sources, error_text(rows.mean), error_text(rows.median),
      error_text(rows.p90), signed_error(rows.bias), error_text(errors.mean),
      signed_error(errors.bias));
  if (all.count > rows.count)
    text += fmt::format(" With {} runs that are known to be off: mean {}, median {}, bias {}.",
                        grouped(all.count - rows.count), error_text(all.mean),
                        error_text(all.median), signed_error(all.bias));
  return text;
}

std::string band_words(const std::vector<BandCoverage>& coverage) {
  const BandCoverage& all = coverage.front();
  std::string text = fmt::format(
      "Of {} runs {:.0f} % are within the 80 % range that the other sources give for them, which "
      "is "
      "{:.0f} % wide in the mean",
      grouped(all.rows), 100 * all.share(), 100 * all.width);
  const char* mark = ": ";
  for (const BandCoverage& family : coverage) {
    if (&family == &all || family.rows < kRowsOfFamily) continue;
    text += fmt::format("{}{} {:.0f} % of {}", mark, family.family, 100 * family.share(),
                        grouped(family.rows));
    mark = ", ";
  }
  return text + ".";
}

std::string growth_words(const Growth& growth) {
  return fmt::format("{:+.2f} ± {:.2f} points ({} rows of {} jobs on {} numbers of GPUs{})",
                     100 * growth.slope, 100 * growth.uncertainty, grouped(growth.rows),
                     grouped(growth.jobs), growth.sizes,
                     growth.is_as_split ? "" : ", not all split alike");
}

}  // namespace stepsim
