// Writes sentences about the statistics.
#include "sim/report/run/likely_error_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

std::string suites_text(const ExpectedError& error) {
  if (error.suites.size() == 1) return "one suite, " + error.worst_suite;
  return fmt::format("{} suites of equal weight, worst {} {}", error.suites.size(),
                     error.worst_suite, error_text(error.worst_mean));
}

/// The band in words: "80 % of 112 measured runs like this one would take 3.9 s to 4.4 s".
std::string band_text(const ExpectedError& error, Seconds predicted) {
  const std::string runs = fmt::format("{} measured run{} like this one", grouped(error.rows),
                                       error.rows == 1 ? "" : "s");
  if (!error.band) return "of " + runs;
  const auto [least, most] = error.times(predicted);
  return fmt::format("80 % of {} would be between {} and {}", runs, humanise(least).text(),
                     humanise(most).text());
}

}  // namespace

std::string likely_error_text(const ExpectedError& error, Seconds predicted) {
  std::string kind = fmt::format("{}", fmt::join(error.traits, ", "));
  if (error.rows > 0) kind += "; " + suites_text(error);
  if (error.known > 0)
    kind += fmt::format("; {} known gap{} not counted", error.known, error.known == 1 ? "" : "s");
  if (error.rows == 0) return fmt::format("unknown: no measured runs like this one ({})", kind);
  return fmt::format("median {}, 90th percentile {}, bias {}; {} ({})", error_text(error.median),
                     error_text(error.p90), signed_error(error.bias), band_text(error, predicted),
                     kind);
}

}  // namespace stepsim
