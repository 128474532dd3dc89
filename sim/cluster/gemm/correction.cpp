// Interpolates in tables that are linear between knots.
#include "sim/cluster/gemm/correction.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace stepsim {
namespace {

constexpr std::array<double, 6> kRows = {7, 8, 9, 10.5, 12, 15};
constexpr std::array<double, 5> kColumns = {9, 10.5, 12, 13.5, 16};
constexpr std::array<double, 5> kDepths = {9, 10.5, 12, 14, 16};
constexpr std::array<double, 3> kMissing = {0, 0.5, 1};
constexpr std::array<double, 5> kWaves = {-3, -1, 0, 1, 2.5};
constexpr std::array<double, 4> kEmpty = {0, 0.33, 0.67, 1};
constexpr std::array<double, 3> kFewDepths = {9, 11.5, 15};
constexpr double kPadded = 256;

struct ShapeAxis {
  std::span<const double> knots;
  double value;
};
using Axes = std::vector<ShapeAxis>;

/// The shape, with each dimension moved to the nearest size that was measured.
GemmShape within_knots(const GemmShape& g) {
  const auto within = [](double size, std::span<const double> knots) {
    return std::clamp(size, std::exp2(knots.front()), std::exp2(knots.back()));
  };
  return {within(g.m, kRows), within(g.n, kColumns), within(g.k, kDepths)};
}

/// The axes of all tables, with the product's position on them.
std::vector<Axes> tables(const GemmShape& shape, double sms) {
  const GemmShape g = within_knots(shape);
  const double m = std::log2(g.m), n = std::log2(g.n), k = std::log2(g.k);
  const double missing = (std::ceil(g.m / kPadded) * kPadded - g.m) / kPadded;
  std::vector<Axes> all = {{{kRows, m}, {kColumns, n}, {kDepths, k}},
                           {{kMissing, missing}, {kColumns, n}, {kDepths, k}}};
  const auto add_waves = [&](double rows, double columns, bool by_depth) {
    const double waves = std::ceil(g.m / rows) * std::ceil(g.n / columns) / sms;
    Axes axes = {{kWaves, std::log2(waves)}, {kEmpty, std::ceil(waves) - waves}};
    if (by_depth) axes.push_back({kFewDepths, k});
    all.push_back(axes);
  };
  add_waves(128, 256, true);
  add_waves(128, 128, true);
  add_waves(256, 128, false);
  add_waves(128, 64, false);
  add_waves(64, 128, false);
  add_waves(64, 64, false);
  return all;
}

std::size_t size_of(const Axes& axes) {
  std::size_t size = 1;
  for (const ShapeAxis& axis : axes) size *= axis.knots.size();
  return size;
}

/// Adds the entries around a point of the table that begins at `first`.
void add_weights(const Axes& axes, std::size_t first, std::vector<EntryWeight>& weights) {
  std::vector<EntryWeight> here = {{0, 1}};
  for (const ShapeAxis& axis : axes) {
    const auto& knots = axis.knots;
    const double value = std::clamp(axis.value, knots.front(), knots.back());
    const auto above = std::upper_bound(knots.begin() + 1, knots.end() - 1, value);
    const auto low = static_cast<std::size_t>(above - knots.begin()) - 1;
    const double share = (value - knots[low]) / (knots[low + 1] - knots[low]);
    std::vector<EntryWeight> next;
    for (const EntryWeight& w : here) {
      const std::size_t entry = w.entry * knots.size() + low;
      next.push_back({entry, w.weight * (1 - share)});
      next.push_back({entry + 1, w.weight * share});
    }
    here = std::move(next);
  }
  for (const EntryWeight& w : here) weights.push_back({first + w.entry, w.weight});
}

double entry_of(const GemmCorrection& c, std::size_t entry) {
  if (entry < kCorrectionSizes) return c.sizes[entry];
  entry -= kCorrectionSizes;
  if (entry < kCorrectionPadding) return c.padding[entry];
  return c.waves[entry - kCorrectionPadding];
}

}  // namespace

std::vector<EntryWeight> correction_weights(const GemmShape& shape, double sms) {
  std::vector<EntryWeight> weights;
  std::size_t first = 0;
  for (const Axes& axes : tables(shape, sms)) {
    add_weights(axes, first, weights);
    first += size_of(axes);
  }
  return weights;
}

double correction_factor(const GemmCorrection& correction, const GemmShape& shape, double sms) {
  double sum = 0;
  for (const EntryWeight& w : correction_weights(shape, sms))
    sum += w.weight * entry_of(correction, w.entry);
  return std::exp(sum);
}

std::vector<std::array<std::size_t, 3>> correction_runs() {
  std::vector<std::array<std::size_t, 3>> runs;
  std::size_t first = 0;
  for (const Axes& axes : tables({1, 1, 1}, 1)) {
    std::size_t stride = size_of(axes);
    for (const ShapeAxis& axis : axes) {
      stride /= axis.knots.size();
      for (std::size_t i = 0; i < size_of(axes); ++i) {
        const std::size_t place = i / stride % axis.knots.size();
        if (place == 0 || place + 1 == axis.knots.size()) continue;
        runs.push_back({first + i - stride, first + i, first + i + stride});
      }
    }
    first += size_of(axes);
  }
  return runs;
}

}  // namespace stepsim
