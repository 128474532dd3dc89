// Counts, best points and slices out of a file of results.
#include "sim/command/sweep/sweep_answer.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr double kAlike = 1 + 1e-9;          ///< work of two points that rounding alone tells apart
constexpr std::int64_t kMostDrawn = 10'000;  ///< points of a picture

/// The points that differ from `best` along one axis, and itself.
std::vector<std::int64_t> neighbours(const std::vector<SweepAxis>& axes, std::int64_t best,
                                     std::size_t axis) {
  std::int64_t stride = 1;
  for (std::size_t a = axes.size(); a-- > axis + 1;)
    stride *= static_cast<std::int64_t>(axes[a].values.size());
  const auto place = static_cast<std::int64_t>(places_of(axes, best)[axis]);
  std::vector<std::int64_t> points;
  for (std::size_t v = 0; v < axes[axis].values.size(); ++v)
    points.push_back(best + (static_cast<std::int64_t>(v) - place) * stride);
  return points;
}

AxisSlice slice_of(const SweepStore& store, const std::vector<SweepAxis>& axes, std::int64_t best,
                   std::size_t a, const Objective& objective) {
  const SweepAxis& axis = axes[a];
  AxisSlice slice{.outcomes = std::vector<std::optional<Outcome>>(axis.values.size()),
                  .order = std::vector<std::size_t>(axis.values.size()),
                  .flat = {}};
  for (SweepPoint& p : store.some(neighbours(axes, best, a)))
    slice.outcomes[places_of(axes, p.point)[a]] = std::move(p.outcome);
  std::iota(slice.order.begin(), slice.order.end(), std::size_t{0});
  const bool is_one_key = axis.paths.size() == 1;
  const bool counts = is_one_key && std::ranges::all_of(axis.values, [](const AxisValue& value) {
                        return value.number.has_value();
                      });
  if (!counts) return slice;
  std::ranges::stable_sort(slice.order, [&](std::size_t i, std::size_t j) {
    return *axis.values[i].number < *axis.values[j].number;
  });
  std::vector<std::optional<double>> values;
  for (const std::size_t place : slice.order) {
    const auto& outcome = slice.outcomes[place];
    const bool ok = outcome && outcome->state == PointState::ok;
    values.push_back(ok ? std::optional(objective.value(*outcome->numbers)) : std::nullopt);
  }
  slice.flat = flat_range(values, objective);
  return slice;
}

/// A shorter step of less work is no faster, and more GPUs are no better by themselves.
std::string unequal_text(const SweepStore::Work& work, const Objective& objective,
                         bool has_tokens) {
  const Aim aim = objective.aim;
  const bool is_rate = aim != Aim::step_time && aim != Aim::memory;
  const char* rate = has_tokens ? "tokens_per_s" : "samples_per_s";
  if (!is_rate && work.most_samples > work.least_samples * kAlike)
    return fmt::format(
        "the points do different work, {:.0f} to {:.0f} samples a step: --objective {} compares "
        "them",
        work.least_samples, work.most_samples, rate);
  const bool is_fair = aim == Aim::mfu || aim == Aim::cost || aim == Aim::tokens_per_s_per_gpu;
  if (!is_fair && work.most_gpus > work.least_gpus)
    return fmt::format(
        "the points have {:.0f} to {:.0f} GPUs: --objective {} compares what each is worth",
        work.least_gpus, work.most_gpus, has_tokens ? "tokens_per_s_per_gpu" : "mfu");
  return "";
}

}  // namespace

SweepAnswer sweep_answer(const Sweep& sweep, const PointList& points, const Shard& shard,
                         const SweepStore& store, const SweepOptions& options) {
  const Objective& objective = objective_of(sweep.objective);
  SweepAnswer answer{.name = sweep.name,
                     .axes = sweep.axes,
                     .grid = static_cast<std::int64_t>(grid_size(sweep.axes)),
                     .wanted = points.count(),
                     .shard = {},
                     .others = store.examples(),
                     .objective = &objective,
                     .best = store.best(objective, options.top),
                     .slices = {},
                     .all = {},
                     .store = options.store,
                     .view = store.number()};
  const auto counts = store.count_by_state();
  answer.done = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  answer.ok = counts.front();
  answer.alike = store.count_alike();
  if (!shard.is_all() && answer.done < points.count())
    answer.shard = SweepShard{shard.part, shard.of, shard.share(points.count())};
  if (!answer.best.empty()) {
    const SweepPoint& best = answer.best.front();
    answer.has_tokens = best.outcome.numbers->tokens_per_s > 0;
    answer.unequal = unequal_text(store.work(), objective, answer.has_tokens);
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      answer.slices.push_back(slice_of(store, sweep.axes, best.point, a, objective));
  }
  if (sweep.axes.size() <= 2 && answer.done <= kMostDrawn)
    store.each([&](const SweepPoint& point) { answer.all.push_back(point); });
  return answer;
}

}  // namespace stepsim
