// Fits of GEMMs: constants that made the times are found again, and what no formula says is in the
// correction.
#include <cmath>
#include <variant>

#include <doctest/doctest.h>

#include "sim/calibrate/fit/gemm.hpp"
#include "sim/cluster/gemm/correction.hpp"
#include "sim/core/random.hpp"

using namespace stepsim;
using namespace stepsim::fit;

namespace {

const GemmDevice kDevice{.sms = 108, .bandwidth = BytesPerSecond{2e12}};

GemmProfile tiled_profile() {
  GemmProfile profile{.peak = FlopsPerSecond{312e12}, .efficiency = 0.88};
  profile.memory_efficiency = 0.75;
  profile.overhead = Seconds{3e-6};
  profile.form = TiledGemm{.droop = 0.1,
                           .droop_half = Flops{1e12},
                           .prologue_k = 100,
                           .tile_edge = 60,
                           .lone_tile = 0.3,
                           .partial_waves = 0.3,
                           .split_overhead = Seconds{2e-6},
                           .split_bandwidth = 1.5};
  return profile;
}

/// As `profile` has them, times what `factor` says of each.
template <class Factor>
Samples samples_of(const GemmProfile& profile, int count, Factor&& factor) {
  const fit::Model model = gemm_model(profile, kDevice);
  Samples samples;
  for (int i = 0; i < count; ++i) {
    const RandomKey key = RandomKey(5).with(static_cast<std::uint64_t>(i));
    const auto size = [&](std::uint64_t part, double low, double high) {
      return static_cast<std::int64_t>(std::exp2(low + (high - low) * key.with(part).uniform()));
    };
    Gemm gemm{size(0, 7, 15), size(1, 9, 16), size(2, 9, 16)};
    gemm.precision = profile.precision;
    samples.push_back({gemm, model(gemm) * factor(gemm), is_large(gemm)});
  }
  return samples;
}

double unchanged(const Gemm&) { return 1; }

}  // namespace

TEST_CASE("a tiled fit finds times again that the tiled form made") {
  const Samples samples = samples_of(tiled_profile(), 300, unchanged);
  const GemmProfile start{.peak = FlopsPerSecond{312e12}};
  const GemmFit fit = fit_gemm(samples, start, kDevice, {.halves = 1});
  CHECK(fit.held_out.mean < 0.02);
  CHECK(fit.held_out.points > 100);
  CHECK(fit.profile.efficiency == doctest::Approx(0.88).epsilon(0.03));
  REQUIRE(fit.profile.range.m);
  CHECK(fit.profile.range.m->least >= 128);
  CHECK(fit.profile.range.m->most < 32768);
  CHECK(fit_gemm(samples, start, kDevice, {.halves = 0}).profile == fit.profile);
}

TEST_CASE("a smooth fit finds times again that the smooth form made") {
  GemmProfile made{.precision = Precision::fp32, .peak = FlopsPerSecond{1e11}, .efficiency = 0.8};
  made.overhead = Seconds{1e-6};
  made.form = SmoothGemm{.half_m = 10, .half_n = 40, .half_k = 100};
  GemmProfile start{.precision = Precision::fp32, .peak = FlopsPerSecond{1e11}};
  start.form = SmoothGemm{};
  const GemmFit fit = fit_gemm(samples_of(made, 100, unchanged), start, kDevice, {.halves = 1});
  CHECK(fit.held_out.mean < 0.01);
  CHECK(fit.profile.efficiency == doctest::Approx(0.8).epsilon(0.02));
}

TEST_CASE("what depends on sizes alone goes into the correction, and lessens errors held out") {
  const Samples samples = samples_of(tiled_profile(), 300, [](const Gemm& gemm) {
    return 1 + 0.15 * std::sin(std::log2(static_cast<double>(gemm.m * gemm.k)));
  });
  const GemmProfile start{.peak = FlopsPerSecond{312e12}};
  const GemmFit fit = fit_gemm(samples, start, kDevice, {.correction = true, .halves = 1});
  CHECK(fit.bare.mean > 0.06);
  CHECK(fit.held_out.mean < 0.7 * fit.bare.mean);
}

TEST_CASE("a fit to times with quantising has the times of the products alone") {
  GemmProfile made = tiled_profile();
  made.precision = Precision::fp8;
  const GemmOptions quantised{.quantised_bytes = 5, .halves = 0};
  Samples samples = samples_of(made, 150, unchanged);
  const fit::Model with_quantising = gemm_model(made, kDevice, quantised);
  for (TimedWork& sample : samples) sample.seconds = with_quantising(sample.work);
  const GemmProfile start{.precision = Precision::fp8, .peak = FlopsPerSecond{312e12}};
  const GemmFit fit = fit_gemm(samples, start, kDevice, quantised);
  CHECK(errors_of(gemm_model(fit.profile, kDevice), samples_of(made, 150, unchanged)).mean < 0.02);
}

TEST_CASE("an fp8 fit leaves out what quantising takes") {
  GemmProfile made = tiled_profile();
  made.precision = Precision::fp8;
  const GemmOptions quantised{.quantised_bytes = 5, .halves = 1};
  const Gemm gemm{4096, 4096, 4096, 1, false, Precision::fp8};
  const double beside =
      (gemm_model(made, kDevice, quantised)(gemm) - gemm_model(made, kDevice)(gemm)).seconds();
  CHECK(beside == doctest::Approx(5.0 * 4096 * 4096 / 1.6e12));
}

TEST_CASE("a correction of zeros changes nothing, one of equal entries all times alike") {
  GemmProfile profile = tiled_profile();
  const Gemm gemm{300, 5000, 7000};
  const double bare = gemm_model(profile, kDevice)(gemm).seconds();
  GemmCorrection correction{.sizes = std::vector<double>(kCorrectionSizes, 0.0),
                            .padding = std::vector<double>(kCorrectionPadding, 0.0),
                            .waves = std::vector<double>(kCorrectionWaves, 0.0)};
  auto& form = std::get<TiledGemm>(profile.form);
  form.correction = correction;
  CHECK(gemm_model(profile, kDevice)(gemm).seconds() == doctest::Approx(bare));
  correction.sizes.assign(kCorrectionSizes, 0.1);
  form.correction = correction;
  CHECK(gemm_model(profile, kDevice)(gemm).seconds() == doctest::Approx(bare * std::exp(0.1)));
}

TEST_CASE("weights of a correction are those of one point in each of its eight tables") {
  for (const double m : {1.0, 128.0, 257.0, 5000.0, 1e6}) {
    double sum = 0;
    for (const EntryWeight& w : correction_weights({m, 777, 3000}, 132)) {
      CHECK(w.entry < kCorrectionEntries);
      CHECK(w.weight >= 0);
      sum += w.weight;
    }
    CHECK(sum == doctest::Approx(8));
  }
}
