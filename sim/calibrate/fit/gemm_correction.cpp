// Weighted least squares of the tables' entries.
#include "sim/calibrate/fit/gemm_correction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "sim/cluster/gemm/correction.hpp"
#include "sim/core/random.hpp"

namespace stepsim::fit {
namespace {

constexpr auto kEntries = static_cast<Eigen::Index>(kCorrectionEntries);
// Judgement, tried on random halves of four GPUs: a tenth or ten times as much costs 0.1 points.
constexpr double kSmooth = 0.01, kSmall = 0.03;
// Judgement: eight draws of pairs, each solved three times, after which hardly a pair is unmet
// (tests/property/gemm_monotone_test.cpp).
constexpr int kRounds = 24, kRoundsOfPairs = 3;  // pairs are drawn anew every so many
constexpr double kLeastRest = 0.01;              // below which a row counts no more
constexpr int kPairs = 40'000;                   // pairs of products, one larger in one dimension
// The weight of a pair over that of a row. Judgement: conditions come first.
constexpr double kPairWeight = 200;
// Tiles quantise m and n: a product that grows by less than so much (logarithm) may be a percent
// faster. One that is deeper takes longer. Judgement.
constexpr double kQuantised = 0.25, kSlack = 0.01, kLeastGain = 0.05;

using Weights = std::vector<EntryWeight>;

/// weights . entries should be `value`; conditions are only held where they are not met.
struct Row {
  Weights weights;
  double value;
};

double dot(const Weights& weights, const Eigen::VectorXd& entries) {
  double sum = 0;
  for (const EntryWeight& w : weights)
    sum += w.weight * entries[static_cast<Eigen::Index>(w.entry)];
  return sum;
}

/// The normal equations of the squares.
struct Squares {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(kEntries, kEntries);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(kEntries);

  void add(const Weights& weights, double value, double count) {
    for (const EntryWeight& a : weights) {
      const auto row = static_cast<Eigen::Index>(a.entry);
      right[row] += count * a.weight * value;
      for (const EntryWeight& b : weights) {
        if (b.entry <= a.entry)
          matrix(row, static_cast<Eigen::Index>(b.entry)) += count * a.weight * b.weight;
      }
    }
  }
  Eigen::VectorXd solved() const {
    return matrix.selfadjointView<Eigen::Lower>().ldlt().solve(right);
  }
};

/// A product, and one that is larger in one dimension.
struct Pair {
  Gemm small, large;
  double gain = 0;  ///< logarithm of the least ratio of their times
};

/// Sizes of the kind that models have: multiples of 8 or 64, one more now and then. Judgement: as
/// far out as the tables are, half of the grown sizes multiples of 64, and more that grow by
/// little.
Pair pair_of(RandomKey key) {
  const auto draw = [&](std::uint64_t part) { return key.with(part).uniform(); };
  const auto size = [&](std::uint64_t part, double low, double high) {
    const double step = draw(part + 10) < 0.5 ? 64 : 8;
    return std::max(step, std::round(std::exp2(low + (high - low) * draw(part)) / step) * step);
  };
  double sizes[3] = {size(0, 5, 15) + (draw(7) < 0.3 ? 1 : 0), size(1, 6, 16), size(2, 7, 16)};
  Pair pair;
  const auto gemm = [&] {
    return Gemm{static_cast<std::int64_t>(sizes[0]), static_cast<std::int64_t>(sizes[1]),
                static_cast<std::int64_t>(sizes[2])};
  };
  pair.small = gemm();
  const auto dimension = static_cast<std::size_t>(3 * draw(8));
  double& grown = sizes[dimension];
  const double before = grown;
  grown =
      std::max(grown + 1, std::round(grown * std::exp2(draw(9) < 0.3 ? 1 : 2 * draw(9) * draw(4))));
  if (draw(5) < 0.5) grown = std::ceil(grown / 64) * 64;
  pair.large = gemm();
  const double growth = std::log(grown / before);
  if (dimension == 2) pair.gain = kLeastGain * growth;
  if (dimension < 2 && growth < kQuantised) pair.gain = -kSlack;
  return pair;
}

GemmShape shape_of(const Gemm& gemm) { return gemm_kernel(gemm).shape; }

/// The condition that the larger product of a pair takes no less time.
Row condition_of(const Pair& pair, const Model& model, double sms) {
  std::map<std::size_t, double> difference;
  for (const EntryWeight& w : correction_weights(shape_of(pair.large), sms))
    difference[w.entry] += w.weight;
  for (const EntryWeight& w : correction_weights(shape_of(pair.small), sms))
    difference[w.entry] -= w.weight;
  Row row{{}, std::log(model(pair.small) / model(pair.large)) + pair.gain};
  for (const auto& [entry, weight] : difference) {
    if (std::abs(weight) > 1e-12) row.weights.push_back({entry, weight});
  }
  return row;
}

bool is_met(const Row& condition, const Eigen::VectorXd& entries) {
  return dot(condition.weights, entries) >= condition.value;
}

/// Conditions that these entries do not meet, of as many pairs as are drawn.
std::vector<Row> unmet(const Eigen::VectorXd& entries, const Model& bare, double sms,
                       RandomKey key) {
  std::vector<Row> found;
  for (int i = 0; i < kPairs; ++i) {
    const Row row = condition_of(pair_of(key.with(static_cast<std::uint64_t>(i))), bare, sms);
    if (!is_met(row, entries)) found.push_back(row);
  }
  return found;
}

Eigen::VectorXd solved(const std::vector<Row>& rows, const std::vector<Row>& conditions,
                       const Eigen::VectorXd& before, bool is_first) {
  Squares squares;
  double all = 0;
  for (const Row& row : rows) {
    const double rest = is_first ? 1 : std::abs(row.value - dot(row.weights, before));
    const double count = 1 / std::max(rest, kLeastRest);
    squares.add(row.weights, row.value, count);
    all += count;
  }
  const double each = all / static_cast<double>(kEntries);
  squares.matrix.diagonal().array() += kSmall * each;
  for (const auto& [low, here, high] : correction_runs())
    squares.add({{low, 1}, {here, -2}, {high, 1}}, 0, kSmooth * each);
  for (const Row& row : conditions) {
    if (is_met(row, before)) continue;
    squares.add(row.weights, row.value, kPairWeight * all / static_cast<double>(rows.size()));
  }
  return squares.solved();
}

Eigen::VectorXd fitted(const std::vector<Row>& rows, const Model& bare, double sms, RandomKey key) {
  Eigen::VectorXd entries = Eigen::VectorXd::Zero(kEntries);
  std::vector<Row> conditions;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0 && round % kRoundsOfPairs == 0) {
      const auto more = unmet(entries, bare, sms, key.with(static_cast<std::uint64_t>(round)));
      conditions.insert(conditions.end(), more.begin(), more.end());
    }
    entries = solved(rows, conditions, entries, round == 0);
  }
  return entries;
}

/// To a tenth of a percent, as a file has them.
std::vector<double> part_of(const Eigen::VectorXd& entries, std::size_t first, std::size_t count) {
  std::vector<double> part;
  for (std::size_t i = first; i < first + count; ++i) {
    const double value = std::round(entries[static_cast<Eigen::Index>(i)] * 1000);
    part.push_back(value == 0 ? 0 : std::strtod(fmt::format("{}e-3", value).c_str(), nullptr));
  }
  return part;
}

}  // namespace

GemmCorrection fit_correction(const Samples& samples, const GemmProfile& profile,
                              const GemmDevice& device, const GemmOptions& options) {
  const Model model = gemm_model(profile, device, options);
  const Model bare = gemm_model(profile, device);
  std::vector<Row> rows;
  for (const TimedWork& sample : samples) {
    const GemmShape shape = shape_of(std::get<Gemm>(sample.work));
    // A correction is of the kernel alone, not of quantising beside it.
    const double beside = model(sample.work).seconds() - bare(sample.work).seconds();
    const double kernel =
        std::max(sample.seconds.seconds() - beside, 0.1 * sample.seconds.seconds());
    rows.push_back(
        {correction_weights(shape, device.sms), std::log(kernel / bare(sample.work).seconds())});
  }
  const Eigen::VectorXd entries = fitted(rows, bare, device.sms, RandomKey(options.seed));
  return {.sizes = part_of(entries, 0, kCorrectionSizes),
          .padding = part_of(entries, kCorrectionSizes, kCorrectionPadding),
          .waves = part_of(entries, kCorrectionSizes + kCorrectionPadding, kCorrectionWaves)};
}

}  // namespace stepsim::fit
