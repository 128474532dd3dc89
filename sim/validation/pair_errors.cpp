// Makes pairs of runs within suites.
#include "sim/validation/pair_errors.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/core/quantile.hpp"
#include "sim/validation/expected_error.hpp"

namespace stepsim {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

bool is_of(const RunKind& kind, const RecordedRuns& runs) {
  const RunTraits& t = runs.traits;
  const std::vector<std::string> own{t.gpu, t.generation, t.model, t.layers, t.precision};
  return runs.known.empty() && contains(kind.suites, runs.suite) &&
         std::ranges::all_of(kind.traits,
                             [&](const std::string& trait) { return contains(own, trait); });
}

/// A measured run, told from others by its place in the record.
struct Run {
  std::size_t record = 0, row = 0;
  double error = 0;
  bool operator==(const Run&) const = default;
};

/// The runs of one suite on both sides of a pair.
struct Sides {
  std::vector<Run> first, second;
};

std::map<std::string, Sides> sides_of(const RunKind& first, const RunKind& second,
                                      const std::vector<RecordedRuns>& runs) {
  std::map<std::string, Sides> suites;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t k = 0; k < runs[i].errors.size(); ++k) {
      const Run run{i, k, runs[i].errors[k]};
      if (is_of(first, runs[i])) suites[runs[i].suite].first.push_back(run);
      if (is_of(second, runs[i])) suites[runs[i].suite].second.push_back(run);
    }
  }
  return suites;
}

std::vector<double> ratios_of(const Sides& suite) {
  std::vector<double> ratios;
  for (const Run& a : suite.first)
    for (const Run& b : suite.second)
      if (!(a == b)) ratios.push_back((1 + b.error) / (1 + a.error));
  return ratios;
}

}  // namespace

double PairErrors::in_order(double predicted_ratio) const {
  double right = 0, all = 0;
  for (const auto& [ratio, weight] : ratios) {
    const double measured = predicted_ratio / ratio;
    all += weight;
    if ((measured < 1) == (predicted_ratio < 1) && measured != 1) right += weight;
  }
  return right / all;
}

std::optional<PairErrors> pair_errors(const RunKind& first, const RunKind& second,
                                      const std::vector<RecordedRuns>& runs) {
  PairErrors found;
  std::vector<std::pair<double, double>> errors;
  for (const auto& [suite, sides] : sides_of(first, second, runs)) {
    const std::vector<double> ratios = ratios_of(sides);
    if (ratios.empty()) continue;
    ++found.suites;
    found.pairs += static_cast<int>(ratios.size());
    const double weight = 1 / static_cast<double>(ratios.size());
    for (const double ratio : ratios) {
      found.ratios.emplace_back(ratio, weight);
      errors.emplace_back(std::abs(ratio - 1), weight);
    }
  }
  if (found.pairs < kEnoughRuns || found.suites < static_cast<int>(kEnoughSuites))
    return std::nullopt;
  std::ranges::sort(found.ratios);
  found.median = weighted_quantile(std::move(errors), 0.5);
  return found;
}

}  // namespace stepsim
