// Weighs errors by likeness and source, and takes quantiles of them.
#include "sim/validation/error_band.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/core/quantile.hpp"

namespace stepsim {
namespace {

using Trait = std::string RunTraits::*;

/// Judgement: a run that differs in one trait counts half as much, and one of another kind of model
/// hardly. With 0.7 the ranges hold a point more of all rows, and with 0.05 as many.
constexpr double kOtherTrait = 0.5, kOtherModel = 0.02;
/// Sizes within this factor are alike.
constexpr double kLikeSizes = 4;
/// The part of the variance of errors (of their logarithms) that rows of one source share: the
/// record has 0.29, 0.24 and 0.28 for dense transformers, those with adapters and convolutions.
constexpr double kSharedVariance = 0.3;
/// The 90th percentile of the normal distribution.
constexpr double kNormal90 = 1.2816;

const std::vector<Trait>& traits_to_share() {
  using T = RunTraits;
  static const std::vector<Trait> kTraits{&T::gpu,       &T::generation, &T::layers,
                                          &T::precision, &T::fabric,     &T::style};
  return kTraits;
}

/// 1 for a run with the same traits; 0 for one that says nothing.
double likeness(const RunTraits& a, const RunTraits& b) {
  // The errors of one device without tensor cores say nothing about another one, nor about GPUs.
  if ((a.generation == kNoGeneration || b.generation == kNoGeneration) && a.gpu != b.gpu) return 0;
  double like = a.model == b.model ? 1 : kOtherModel;
  for (const Trait trait : traits_to_share())
    if (a.*trait != b.*trait) like *= kOtherTrait;
  const double ratio =
      static_cast<double>(std::max(a.gpus, b.gpus)) / std::max(1, std::min(a.gpus, b.gpus));
  return ratio > kLikeSizes ? like * kOtherTrait : like;
}

/// The rows of one source: sums of their likeness and of its squares.
struct SourceWeight {
  double sum = 0, squares = 0;
  /// As like as its rows are, the more like ones first.
  double weight() const { return squares / sum; }
};

/// The 90th percentile of Student's t over that of the normal distribution, by the expansion of
/// Abramowitz and Stegun 26.7.5; `freedom` is 1 or more.
double student_90(double freedom) {
  const double z = kNormal90, cube = z * z * z, fifth = cube * z * z;
  const double t =
      z + (cube + z) / (4 * freedom) + (5 * fifth + 16 * cube + 3 * z) / (96 * freedom * freedom);
  return t / z;
}

/// How much wider the range of a new draw is than the quantiles of so many rows of so many sources:
/// Student's t, of as many independent draws as Kish's design effect leaves.
double widening(double rows, double sources) {
  const double of_source = std::max(1.0, rows / sources);
  const double draws =
      std::max(2.0, std::max(rows, sources) / (1 + (of_source - 1) * kSharedVariance));
  return student_90(draws - 1) * std::sqrt(1 + 1 / draws);
}

struct Sample {
  Weighted logarithms;           ///< of predicted over measured
  double rows = 0, sources = 0;  ///< effective numbers
};

Sample sample_of(const RunTraits& traits, const std::vector<const RecordedRuns*>& runs) {
  std::map<std::string, SourceWeight> by_source;
  std::vector<double> likes;
  for (const RecordedRuns* run : runs) {
    const double like = likeness(traits, run->traits),
                 rows = static_cast<double>(run->errors.size());
    likes.push_back(like);
    if (like == 0) continue;
    SourceWeight& source = by_source[run->source()];
    source.sum += like * rows;
    source.squares += like * like * rows;
  }
  Sample sample;
  double sum = 0, squares = 0, weights = 0, weight_squares = 0;
  for (const auto& [name, source] : by_source) {
    sum += source.sum;
    squares += source.squares;
    weights += source.weight();
    weight_squares += source.weight() * source.weight();
  }
  if (by_source.empty()) return sample;
  sample.rows = sum * sum / squares;
  sample.sources = by_source.size() == 1 ? 1 : weights * weights / weight_squares;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (likes[i] == 0) continue;
    const SourceWeight& source = by_source.at(runs[i]->source());
    for (const double error : runs[i]->unseen_errors())
      sample.logarithms.emplace_back(std::log1p(error), source.weight() * likes[i] / source.sum);
  }
  return sample;
}

/// What no run of the kind of model has. Another style of kernels is none of it: rows whose style no
/// other source has lie in their range as often as all others.
std::vector<std::string> unseen_of(const RunTraits& traits,
                                   const std::vector<const RecordedRuns*>& runs) {
  std::vector<const RunTraits*> kind;
  for (const RecordedRuns* run : runs)
    if (run->traits.model == traits.model) kind.push_back(&run->traits);
  if (kind.empty()) return {traits.model};
  std::vector<std::string> unseen;
  using T = RunTraits;
  for (const Trait trait : {&T::generation, &T::precision, &T::fabric}) {
    const auto has = [&](const RunTraits* other) { return other->*trait == traits.*trait; };
    if (std::ranges::none_of(kind, has)) unseen.push_back(traits.*trait);
  }
  const auto largest =
      std::ranges::max_element(kind, {}, [](const RunTraits* one) { return one->gpus; });
  if (traits.gpus > (*largest)->gpus) unseen.push_back(fmt::format("{} GPUs", traits.gpus));
  return unseen;
}

std::optional<ErrorBand> band_of(const RunTraits& traits,
                                 const std::vector<const RecordedRuns*>& runs) {
  const Sample sample = sample_of(traits, runs);
  std::set<std::string> sources;
  for (const RecordedRuns* run : runs) sources.insert(run->source());
  if (sample.logarithms.empty() || sources.size() < 2) return std::nullopt;
  ErrorBand band{.unseen = unseen_of(traits, runs)};
  double factor = widening(sample.rows, sample.sources);
  if (!band.unseen.empty()) factor *= kUnseenFactor;
  const double middle = weighted_quantile(sample.logarithms, 0.5);
  const auto end = [&](double share) {
    return std::exp(middle + factor * (weighted_quantile(sample.logarithms, share) - middle));
  };
  band.least = end(0.1);
  band.most = end(0.9);
  return band;
}

std::vector<const RecordedRuns*> met_runs(const std::vector<RecordedRuns>& runs,
                                          const std::string& but_source = "") {
  std::vector<const RecordedRuns*> met;
  for (const RecordedRuns& run : runs)
    if (run.known.empty() && run.source() != but_source) met.push_back(&run);
  return met;
}

}  // namespace

std::optional<ErrorBand> error_band(const RunTraits& traits,
                                    const std::vector<RecordedRuns>& runs) {
  return band_of(traits, met_runs(runs));
}

std::vector<BandCoverage> band_coverage(const std::vector<RecordedRuns>& runs) {
  std::vector<BandCoverage> all{{.family = "all"}};
  std::map<std::pair<int, std::string>, BandCoverage> families;
  for (const RecordedRuns* run : met_runs(runs)) {
    const auto band = band_of(run->traits, met_runs(runs, run->source()));
    if (!band) continue;
    const auto count = [&](BandCoverage& family) {
      for (const double error : run->unseen_errors()) {
        ++family.rows;
        family.inside += band->least <= 1 + error && 1 + error <= band->most ? 1 : 0;
        family.width += band->most - band->least;
      }
    };
    count(all.front());
    const RunTraits& t = run->traits;
    for (const auto& [rank, name] : {std::pair<int, std::string>{0, t.generation},
                                     {1, t.model},
                                     {2, t.layers},
                                     {3, t.precision}})
      if (!name.empty()) count(families[{rank, name}]);
  }
  if (all.front().rows == 0) return {};
  for (const auto& [key, family] : families) {
    all.push_back(family);
    all.back().family = key.second;
  }
  for (BandCoverage& family : all) family.width /= family.rows;
  return all;
}

}  // namespace stepsim
