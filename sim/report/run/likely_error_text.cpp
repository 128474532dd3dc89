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

/// The range in words: "; 80 % range 3.9 s to 4.4 s"; empty where there is none.
std::string band_text(const ExpectedError& error, Seconds predicted) {
  if (!error.band) return "";
  const auto [least, most] = error.times(predicted);
  std::string text =
      fmt::format("; 80 % range {} to {}", humanise(least).text(), humanise(most).text());
  if (!error.band->unseen.empty())
    text += fmt::format(", wider for what no measured run had: {}",
                        fmt::join(error.band->unseen, ", "));
  return text;
}

}  // namespace

std::string likely_error_text(const ExpectedError& error, Seconds predicted) {
  std::string kind = fmt::format("{}", fmt::join(error.traits, ", "));
  if (error.rows > 0) kind += "; " + suites_text(error);
  if (error.known > 0)
    kind += fmt::format("; {} known gap{} not counted", error.known, error.known == 1 ? "" : "s");
  const std::string band = band_text(error, predicted);
  if (error.rows == 0)
    return fmt::format("unknown: no measured runs like this one ({}){}", kind, band);
  return fmt::format(
      "median {}, 90th percentile {}, bias {}{} ({} measured run{} like this one: {})",
      error_text(error.median), error_text(error.p90), signed_error(error.bias), band,
      grouped(error.rows), error.rows == 1 ? "" : "s", kind);
}

}  // namespace stepsim
