// Convolutions: records to samples, one factor of a precision for each pass.
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/calibrate/fit/convolution.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/cluster/kernel_time.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

constexpr Flops kLargeConvolution{
    1e10};  // judgement: a layer of ResNet-50 with 128 images does more

using fit::ConvolutionFactor;

/// Nothing for shapes that models do not have.
std::optional<Convolution> convolution_of(const ConvolutionPoint& p, Precision precision) {
  const bool square = p.height == p.width && p.filter_height == p.filter_width;
  if (!square || p.filter_height % 2 == 0 || p.pad != p.filter_height / 2) return {};
  const Convolution convolution{.batch = p.batch,
                                .in_channels = p.channels,
                                .out_channels = p.filters,
                                .image = p.height,
                                .filter = p.filter_height,
                                .stride = p.stride,
                                .pass = p.pass,
                                .precision = precision};
  if (convolution.computed() != precision) return {};
  return convolution;
}

struct PrecisionSamples {
  fit::Samples samples;
  int left_out = 0;
};

std::map<Precision, PrecisionSamples> samples_by_precision(const Records& records,
                                                           const GpuProfile& gpu) {
  std::map<Precision, PrecisionSamples> found;
  for_each_point<ConvolutionPoint>(records, [&](const auto& point, const auto& measured) {
    for (const GemmProfile& gemm : gpu.gemm) {
      if (gemm.precision != point.dtype) continue;
      PrecisionSamples& of_precision = found[gemm.precision];
      const auto convolution = convolution_of(point, gemm.precision);
      if (!convolution) {
        ++of_precision.left_out;
        continue;
      }
      of_precision.samples.push_back({*convolution, Seconds{measured.timing.seconds},
                                      convolution->flops() >= kLargeConvolution});
    }
  });
  return found;
}

struct FactorNames {
  const char *key, *words;  ///< `key` of the profile, `words` of the report
};

FactorNames names_of(ConvolutionFactor factor) {
  switch (factor) {
    case ConvolutionFactor::forward:
      return {"forward", "forward"};
    case ConvolutionFactor::input_gradient:
      return {"input_gradient", "input"};
    case ConvolutionFactor::weight_gradient:
      return {"weight_gradient", "weights"};
    case ConvolutionFactor::winograd:
      return {"winograd", "3x3"};
  }
  throw InternalError("a factor of convolutions without a name");
}

fit::Samples of_factor(const fit::Samples& samples, ConvolutionFactor factor) {
  fit::Samples found;
  for (const fit::TimedWork& sample : samples)
    if (fit::factor_of(std::get<Convolution>(sample.work)) == factor) found.push_back(sample);
  return found;
}

std::string images_of(const fit::Samples& samples) {
  Extent<std::int64_t> images{INT64_MAX, 0};
  for (const fit::TimedWork& sample : samples) {
    const auto& c = std::get<Convolution>(sample.work);
    images.least = std::min(images.least, c.image);
    images.most = std::max(images.most, c.image);
  }
  return "images " + write_scalar(images);
}

void fit_factor(const fit::Samples& samples, ConvolutionFactor factor, Precision precision,
                std::uint64_t seed, GpuDraft& draft) {
  const GpuProfile& gpu = draft.profile;
  const ConvolutionProfile base = gemm_profile(gpu, precision).convolution;
  ConvolutionProfile all = fit::fit_convolution(samples, gpu);
  const bool split = samples.size() >= fit::kFewestToSplit;
  const fit::Samples seen = split ? fit::half_of(samples, seed, false) : samples;
  const fit::Samples kept = split ? fit::half_of(samples, seed, true) : samples;
  FamilyReport report{
      .family = fmt::format("convolution {} {}", name_of(precision), names_of(factor).words),
      .path = fmt::format("gemm.{}.convolution.{}", name_of(precision), names_of(factor).key),
      .errors = fit::convolution_errors(fit::fit_convolution(seen, gpu), gpu, kept),
      .held_out = split,
      .range = images_of(samples),
      .remark = fmt::format("{:.4g} times a GEMM of its shape", fit::factor_in(all, factor))};
  report.errors.points = static_cast<int>(samples.size());
  report.base_errors = fit::convolution_errors(base, gpu, samples);
  for (GemmProfile& gemm : draft.profile.gemm)
    if (gemm.precision == precision) gemm.convolution = all;
  draft.fitted(report);
}

}  // namespace

bool is_fitted(const ConvolutionPoint& point) {
  return convolution_of(point, point.dtype).has_value();
}

void fit_convolutions(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  for (const auto& [precision, measured] : samples_by_precision(records, draft.profile)) {
    for (const auto factor : {ConvolutionFactor::forward, ConvolutionFactor::input_gradient,
                              ConvolutionFactor::weight_gradient, ConvolutionFactor::winograd}) {
      const fit::Samples samples = of_factor(measured.samples, factor);
      if (!samples.empty()) fit_factor(samples, factor, precision, seed, draft);
    }
    if (measured.left_out > 0)
      draft.not_fitted(
          fmt::format("convolution {}", name_of(precision)), "",
          fmt::format("{} points left out: profiles are for square images of four channels "
                      "or more, and filters of odd width, padded by half of it",
                      measured.left_out));
  }
}

}  // namespace stepsim
