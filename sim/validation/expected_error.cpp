// Widens the kind of runs from a run's own to all that can be compared with it.
#include "sim/validation/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/core/quantile.hpp"
#include "sim/validation/errors.hpp"

namespace stepsim {
namespace {

using Trait = std::string RunTraits::*;

/// The traits that runs have to share, from the narrowest kind to the widest.
const std::vector<std::vector<Trait>>& widening() {
  using T = RunTraits;
  static const std::vector<std::vector<Trait>> kSteps{
      {&T::gpu, &T::model, &T::layers, &T::precision},
      {&T::generation, &T::model, &T::layers, &T::precision},
      {&T::model, &T::layers, &T::precision},
      {&T::model, &T::layers},
      {&T::model}};
  return kSteps;
}

bool is_like(const RunTraits& a, const RunTraits& b, const std::vector<Trait>& shared) {
  // The errors of one device without tensor cores say nothing about another one, nor about GPUs.
  if ((a.generation == kNoGeneration || b.generation == kNoGeneration) && a.gpu != b.gpu)
    return false;
  return std::ranges::all_of(shared, [&](const Trait trait) { return a.*trait == b.*trait; });
}

void summarise(const std::map<std::string, std::vector<double>>& by_suite, ExpectedError& found) {
  Weighted sizes;
  for (const auto& [suite, all] : by_suite) {
    const Errors of_suite = errors_of(all);
    found.suites.push_back(suite);
    found.rows += of_suite.count;
    found.bias += of_suite.bias / static_cast<double>(by_suite.size());
    if (found.worst_suite.empty() || of_suite.mean > found.worst_mean) {
      found.worst_suite = suite;
      found.worst_mean = of_suite.mean;
    }
    for (const double error : all)
      sizes.emplace_back(std::abs(error), 1 / static_cast<double>(all.size()));
  }
  if (sizes.empty()) return;
  found.median = weighted_quantile(sizes, 0.5);
  found.p90 = weighted_quantile(sizes, 0.9);
}

ExpectedError of_kind(const RunTraits& traits, const std::vector<Trait>& shared,
                      const std::vector<RecordedRuns>& runs) {
  ExpectedError found;
  for (const Trait trait : shared)
    if (!(traits.*trait).empty()) found.traits.push_back(traits.*trait);
  std::map<std::string, std::vector<double>> by_suite;
  for (const RecordedRuns& run : runs) {
    if (!is_like(traits, run.traits, shared)) continue;
    if (run.known.empty()) {
      std::vector<double>& errors = by_suite[run.suite];
      errors.insert(errors.end(), run.errors.begin(), run.errors.end());
    } else {
      found.known += static_cast<int>(run.errors.size());
    }
  }
  summarise(by_suite, found);
  return found;
}

/// The runs that are most like the one at hand, as expected_error() has them.
ExpectedError most_alike(const RunTraits& traits, const std::vector<RecordedRuns>& runs) {
  std::optional<ExpectedError> most;
  for (const std::vector<Trait>& shared : widening()) {
    ExpectedError found = of_kind(traits, shared, runs);
    const bool enough = found.rows >= kEnoughRuns && found.suites.size() >= kEnoughSuites;
    if (enough) return found;
    if (!most || found.rows > most->rows) most = std::move(found);
  }
  return *std::move(most);
}

}  // namespace

ExpectedError expected_error(const RunTraits& traits, const std::vector<RecordedRuns>& runs) {
  ExpectedError found = most_alike(traits, runs);
  found.band = error_band(traits, runs);
  return found;
}

}  // namespace stepsim
