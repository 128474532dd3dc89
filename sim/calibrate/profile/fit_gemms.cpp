// GEMMs: records to samples, the constants of each precision, and how far all layouts are off.
//
// The constants are fitted to one group of rows: a layer's forward products, where there are enough
// of them; few are fitted together with the other layouts. Other groups (other layouts, after
// seconds of the same kernel, batched) are told beside it, with the constants that came out; two of
// them give factors.
#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "sim/calibrate/profile/fittable_points.hpp"
#include "sim/calibrate/profile/gemm_groups.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

// A correction needs rows on both sides of most knots. Judgement: five for each of its entries.
// With 3000 rows it takes a tenth to a quarter of the held-out error
// (docs/decisions/010-gemm-model.md).
constexpr std::size_t kRowsOfCorrection =
    5 * (kCorrectionSizes + kCorrectionPadding + kCorrectionWaves);
// Fewer rows than ten for each constant of the tiled form say less than the layouts differ by, a
// few percent (calib/README.md). Judgement.
constexpr std::size_t kRowsOfOneLayout = 120;
constexpr int kShapesOfRatio = 2;  // shapes that the harness measures in both ways

/// What one precision has: its groups, and where its constants are.
struct GemmFamily {
  std::string dtype;
  const GemmGroups& groups;
  GemmProfile base;
  GemmDevice device;

  std::string path() const { return "gemm." + dtype; }
};

/// What constants are fitted to.
struct Fitted {
  GemmGroup group;  ///< the group that the family is called by
  bool all_layouts = false;
  fit::Samples samples;

  bool has(const GemmGroup& other) const {
    if (other == group) return true;
    return all_layouts && other.is_plain() && other.sustained == group.sustained &&
           other.quantised_bytes == group.quantised_bytes;
  }
};

std::optional<Fitted> rows_to_fit(const GemmGroups& groups) {
  for (const auto& [group, samples] : groups) {
    if (!group.is_plain() || samples.size() < std::size_t{kFewestGemms}) continue;
    Fitted rows{group, samples.size() < kRowsOfOneLayout, samples};
    for (const auto& [other, more] : groups)
      if (other != group && rows.has(other))
        rows.samples.insert(rows.samples.end(), more.begin(), more.end());
    return rows;
  }
  return {};
}

int points_of(const GemmGroups& groups) {
  std::size_t points = 0;
  for (const auto& [group, samples] : groups) points += samples.size();
  return static_cast<int>(points);
}

std::string range_text(const fit::Samples& samples) {
  const GemmRange range = fit::range_of(samples);
  const auto text = [](const auto& extent) {
    return fmt::format("{} to {}", extent->least, extent->most);
  };
  return fmt::format("m {}, n {}, k {}", text(range.m), text(range.n), text(range.k));
}

bool has_correction(const GemmProfile& profile) {
  const auto* form = std::get_if<TiledGemm>(&profile.form);
  return form != nullptr && form->correction.has_value();
}

/// With a correction where there are rows enough for one and it lessens the error.
fit::GemmFit fitted(const Fitted& rows, const GemmFamily& family, std::uint64_t seed) {
  fit::GemmOptions options{.quantised_bytes = static_cast<double>(rows.group.quantised_bytes),
                           .seed = seed};
  options.correction = std::holds_alternative<TiledGemm>(family.base.form) &&
                       rows.samples.size() >= kRowsOfCorrection;
  fit::GemmFit fit = fit::fit_gemm(rows.samples, family.base, family.device, options);
  if (options.correction && fit.held_out.mean >= fit.bare.mean) {
    std::get<TiledGemm>(fit.profile.form).correction.reset();
    fit.held_out = fit.bare;
  }
  return fit;
}

std::string remark_of(const fit::GemmFit& fit, std::size_t rows) {
  const GemmProfile& p = fit.profile;
  std::string text = fmt::format("{:.3g} of {:.4g} TFLOP/s, {:.3g} us", p.efficiency,
                                 p.peak.flops_per_second() / 1e12, p.overhead.microseconds());
  if (has_correction(p))
    return text + fmt::format("; with a correction, without it {}", percent(fit.bare.mean));
  if (std::holds_alternative<TiledGemm>(p.form) && rows < kRowsOfCorrection)
    text += fmt::format("; without a correction, which needs {} points", kRowsOfCorrection);
  return text;
}

/// The report about rows of a group, by the constants as they are now.
FamilyReport report_of(const GemmFamily& family, const GemmGroup& group,
                       const fit::Samples& samples, const GemmProfile& profile) {
  FamilyReport report{.family = fmt::format("gemm {}{}", family.dtype, group.suffix()),
                      .range = range_text(samples)};
  report.errors = fit::errors_of(group_model(profile, family.device, group), samples);
  report.base_errors = fit::errors_of(group_model(family.base, family.device, group), samples);
  return report;
}

/// Constants of a precision that no GEMM of a group shows are as in the base, unless something else
/// has been said of them.
void state_unfitted(const GemmFamily& family, GpuDraft& draft) {
  for (const char* key :
       {"peak", "sustained", "weight_gradient", "block_scaling", "blockwise",
        "blockwise_weight_gradient", "split_accumulator", "grouped", "grouped_weight_gradient",
        "unaligned_even", "unaligned_odd", "convolution"})
    draft.sources.of.try_emplace(fmt::format("{}.{}", family.path(), key), "base");
}

/// A factor that two groups show.
void take_ratio(const Ratio& ratio, const char* key, const char* text, double& factor,
                const GemmFamily& family, GpuDraft& draft) {
  if (ratio.shapes < kShapesOfRatio) return;
  factor = fit::rounded(ratio.mean);
  const std::string path = fmt::format("{}.{}", family.path(), key);
  draft.state(path, id_of(path), fmt::format("{}, {}", text, draft.origin.text(ratio.shapes)));
}

void take_sustained(const GemmFamily& family, const GemmGroup& group, GemmProfile& profile,
                    GpuDraft& draft) {
  if (!group.sustained)
    return take_ratio(sustained_over_short(family.groups), "sustained",
                      "sustained over short runs of the same shapes, geometric mean",
                      profile.sustained, family, draft);
  profile.sustained = 1;
  draft.state(family.path() + ".sustained", "sustained-rows",
              "derived: the constants are fitted to sustained runs");
}

/// The gradient's factor is taken last: the factor of sustained rows comes on top of `sustained`.
void take_factors(const GemmFamily& family, const GemmGroup& group, GemmProfile& profile,
                  GpuDraft& draft) {
  take_sustained(family, group, profile, draft);
  take_ratio(gradient_over_forward(family.groups, profile, family.device), "weight_gradient",
             "NT with accumulation over the fitted forward time, geometric mean",
             profile.weight_gradient, family, draft);
}

void report_groups(const GemmFamily& family, const Fitted& rows, const GemmProfile& profile,
                   GpuDraft& draft) {
  for (const auto& [group, samples] : family.groups) {
    if (rows.has(group)) continue;
    FamilyReport report = report_of(family, group, samples, profile);
    const std::string factor =
        group.sustained && !rows.group.sustained ? "sustained" : "weight_gradient";
    const bool has_factor = group.accumulated || factor == "sustained";
    report.held_out = !has_factor || draft.sources.of.at(family.path() + "." + factor) == "base";
    if (has_factor)
      report.remark = fmt::format("{} {:.4g}", factor,
                                  group.accumulated ? profile.weight_gradient : profile.sustained);
    draft.families.push_back(report);
  }
}

void fit_precision(const GemmFamily& family, std::uint64_t seed, GemmProfile& profile,
                   GpuDraft& draft) {
  const std::optional<Fitted> rows = rows_to_fit(family.groups);
  if (!rows) {
    draft.not_fitted("gemm " + family.dtype, family.path(),
                     fmt::format("as {}: {} points, of no kind of plain product as many as {}",
                                 draft.base, points_of(family.groups), kFewestGemms));
    return;
  }
  const fit::GemmFit fit = fitted(*rows, family, seed);
  profile = fit.profile;
  FamilyReport report = report_of(family, rows->group, rows->samples, profile);
  report.path = family.path();
  report.errors = fit.held_out;
  report.errors.points = static_cast<int>(rows->samples.size());
  report.remark = remark_of(fit, rows->samples.size());
  draft.fitted(report);
  take_factors(family, rows->group, profile, draft);
  state_unfitted(family, draft);
  report_groups(family, *rows, profile, draft);
}

/// What the base has alike in two precisions stays alike where one of them was not measured: fp16
/// and bf16 of tensor cores.
void follow(const GemmFamily& family, const GemmProfile& fitted, const GroupsByPrecision& measured,
            GpuDraft& draft) {
  for (GemmProfile& other : draft.profile.gemm) {
    GemmProfile alike = family.base;
    alike.precision = other.precision;
    if (measured.contains(other.precision) || !(alike == other)) continue;
    other = fitted;
    other.precision = alike.precision;
    const std::string name = name_of(other.precision);
    const std::string text = fmt::format("as {}, as {} has it", family.dtype, draft.base);
    draft.state("gemm." + name, "like-" + family.dtype, "derived: not measured; " + text);
    draft.not_fitted("gemm " + name, "gemm." + name, text);
  }
}

}  // namespace

void fit_gemms(const Records& records, std::uint64_t seed, GpuDraft& draft) {
  const auto measured = gemm_groups(records);
  for (const auto& [dtype, groups] : measured) {
    auto& all = draft.profile.gemm;
    const auto profile = std::ranges::find(all, dtype, &GemmProfile::precision);
    if (profile == all.end()) {
      draft.not_fitted("gemm " + name_of(dtype), "",
                       fmt::format("{} points left out: {} has no {}", points_of(groups),
                                   draft.base, name_of(dtype)));
      continue;
    }
    const GemmFamily family{name_of(dtype), groups, *profile, gemm_device(draft.profile)};
    fit_precision(family, seed, *profile, draft);
    if (!(*profile == family.base)) follow(family, *profile, measured, draft);
  }
}

}  // namespace stepsim
