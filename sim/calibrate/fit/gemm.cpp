// Fits GEMMs to halves and to all samples: the closed form first, then its correction.
#include "sim/calibrate/fit/gemm.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "sim/calibrate/fit/gemm_correction.hpp"
#include "sim/calibrate/fit/gemm_form.hpp"
#include "sim/core/random.hpp"

namespace stepsim::fit {
namespace {

// The share of the bandwidth that quantising reaches. Judgement: as element-wise kernels.
constexpr double kQuantisingRate = 0.8;
constexpr Flops kLargeFlops{
    0.2e12};  // judgement: queries, keys and values of 4096 tokens, hidden size 4096, have 0.4

/// The closed form, with what its correction adds where that is asked for.
GemmProfile corrected(GemmProfile form, const Samples& samples, const GemmDevice& device,
                      const GemmOptions& options) {
  if (!options.correction) return form;
  const GemmCorrection correction = fit_correction(samples, form, device, options);
  std::get<TiledGemm>(form.form).correction = correction;
  return form;
}

std::pair<Samples, Samples> random_halves(const Samples& samples, RandomKey key) {
  std::pair<Samples, Samples> halves;
  for (std::size_t i = 0; i < samples.size(); ++i)
    (key.with(i).uniform() < 0.5 ? halves.first : halves.second).push_back(samples[i]);
  return halves;
}

/// Sums for means over halves.
void add(Errors& sum, const Errors& errors, double share) {
  sum.points += errors.points;
  sum.large += errors.large;
  sum.mean += share * errors.mean;
  sum.median += share * errors.median;
  sum.p90 += share * errors.p90;
  sum.large_mean += share * errors.large_mean;
}

void widen(std::optional<Extent<std::int64_t>>& range, std::int64_t size) {
  range = range ? Extent<std::int64_t>{std::min(range->least, size), std::max(range->most, size)}
                : Extent<std::int64_t>{size, size};
}

}  // namespace

GemmRange range_of(const Samples& samples) {
  GemmRange range;
  for (const TimedWork& sample : samples) {
    const Gemm& gemm = std::get<Gemm>(sample.work);
    widen(range.m, gemm.m);
    widen(range.n, gemm.n);
    widen(range.k, gemm.k);
  }
  return range;
}

bool is_large(const Gemm& gemm) { return gemm.flops() > kLargeFlops; }

Model gemm_model(const GemmProfile& profile, const GemmDevice& device, const GemmOptions& options) {
  return [profile, device, bytes = options.quantised_bytes](const Work& work) {
    const Gemm& gemm = std::get<Gemm>(work);
    const Bytes beside{bytes * static_cast<double>(gemm.m) * static_cast<double>(gemm.k)};
    return gemm_seconds(gemm_kernel(gemm), profile, device) +
           beside / (device.bandwidth * kQuantisingRate);
  };
}

GemmFit fit_gemm(const Samples& samples, const GemmProfile& start, const GemmDevice& device,
                 const GemmOptions& options) {
  GemmFit fit{.profile =
                  corrected(fit_form(samples, start, device, options), samples, device, options)};
  for (int i = 0; i < options.halves; ++i) {
    const auto [kept, others] =
        random_halves(samples, RandomKey(options.seed).with(static_cast<std::uint64_t>(i)));
    const auto count = [&, &others = others](const GemmProfile& half, Errors& errors) {
      add(errors, errors_of(gemm_model(half, device, options), others), 1.0 / options.halves);
    };
    const GemmProfile form = fit_form(kept, start, device, options);
    count(form, fit.bare);
    count(corrected(form, kept, device, options), fit.held_out);
  }
  fit.profile.range = range_of(samples);
  return fit;
}

}  // namespace stepsim::fit
