// Puts measured GEMMs into groups, and takes the ratios of times between two of them.
#include "sim/calibrate/profile/gemm_groups.hpp"

#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim {
namespace {

GemmGroup group_of(const GemmPoint& point) {
  return {point.batch > 1, point.accumulate, point.transpose, point.sustained,
          point.quantised_bytes};
}

fit::TimedWork sample_of(const GemmPoint& point, Seconds seconds) {
  Gemm gemm{point.m, point.n, point.k, point.batch};
  gemm.precision = point.dtype;
  return {gemm, seconds, fit::is_large(gemm)};
}

using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Shape shape_of(const fit::TimedWork& sample) {
  const Gemm& g = std::get<Gemm>(sample.work);
  return {g.m, g.n, g.k, g.batch};
}

Ratio mean_of(const std::vector<double>& logarithms) {
  double sum = 0;
  for (const double value : logarithms) sum += value;
  if (logarithms.empty()) return {};
  const auto count = static_cast<double>(logarithms.size());
  return {static_cast<int>(logarithms.size()), std::exp(sum / count)};
}

/// Adds the ratio of times for each shape that both groups have.
void add_ratios(const fit::Samples& above, const fit::Samples& below, std::vector<double>& ratios) {
  std::map<Shape, Seconds> times;
  for (const fit::TimedWork& sample : below) times[shape_of(sample)] = sample.seconds;
  for (const fit::TimedWork& sample : above)
    if (const auto twin = times.find(shape_of(sample)); twin != times.end())
      ratios.push_back(std::log(sample.seconds / twin->second));
}

}  // namespace

std::string GemmGroup::suffix() const {
  std::string text;
  if (transpose != Transpose::TN) text += fmt::format(", {}", name_of(transpose));
  if (batched) text += ", batched";
  if (accumulated) text += ", accumulated";
  if (sustained) text += ", sustained";
  if (quantised_bytes > 0) text += ", quantised";
  return text;
}

GroupsByPrecision gemm_groups(const Records& records) {
  GroupsByPrecision groups;
  for_each_point<GemmPoint>(records, [&](const auto& point, const auto& measured) {
    groups[point.dtype][group_of(point)].push_back(
        sample_of(point, Seconds{measured.timing.seconds}));
  });
  return groups;
}

fit::Model group_model(const GemmProfile& profile, const GemmDevice& device,
                       const GemmGroup& group) {
  const double factor =
      (group.sustained ? profile.sustained : 1) * (group.accumulated ? profile.weight_gradient : 1);
  const fit::Model alone = fit::gemm_model(
      profile, device, {.quantised_bytes = static_cast<double>(group.quantised_bytes)});
  return [=](const Work& work) { return alone(work) * factor; };
}

Ratio sustained_over_short(const GemmGroups& groups) {
  std::vector<double> ratios;
  for (const auto& [group, samples] : groups) {
    GemmGroup other = group;
    other.sustained = false;
    const auto twin = groups.find(other);
    if (group.sustained && twin != groups.end()) add_ratios(samples, twin->second, ratios);
  }
  return mean_of(ratios);
}

Ratio gradient_over_forward(const GemmGroups& groups, const GemmProfile& profile,
                            const GemmDevice& device) {
  std::vector<double> ratios;
  for (const auto& [group, samples] : groups) {
    if (!group.accumulated || group.batched || group.transpose != Transpose::NT) continue;
    GemmGroup forward = group;
    forward.accumulated = false;
    const fit::Model model = group_model(profile, device, forward);
    for (const fit::TimedWork& sample : samples)
      ratios.push_back(std::log(sample.seconds / model(sample.work)));
  }
  return mean_of(ratios);
}

}  // namespace stepsim
