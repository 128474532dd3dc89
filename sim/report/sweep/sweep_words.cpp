// Words about points and axes, which all writers of a sweep share.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/sweep.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// The last `words` words of a path, with their dots.
std::string tail(const std::string& path, int words) {
  std::size_t at = path.size();
  for (int i = 0; i < words && at != std::string::npos && at > 0; ++i) at = path.rfind('.', at - 1);
  return at == std::string::npos || at == 0 ? path : path.substr(at + 1);
}

/// As few of its last words as no other key ends in.
std::string short_title(const std::vector<SweepAxis>& axes, const std::string& path) {
  if (path == "parallelism.pipeline.stages") return "pipeline";  // as everybody calls it
  for (int words = 1; words < 9; ++words) {
    std::string title = tail(path, words);
    int alike = 0;
    for (const SweepAxis& axis : axes)
      for (const std::string& other : axis.paths) alike += tail(other, words) == title ? 1 : 0;
    if (alike == 1) return title;
  }
  return path;
}

/// Less than what is printed of a result.
constexpr double kSame = 1e-9;

/// Whether all values of an axis were tried, and are as good.
bool makes_no_difference(const AxisSlice& slice, const Objective& objective) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& outcome : slice.outcomes) {
    if (!outcome || outcome->state != PointState::ok) return false;
    least = std::min(least, objective.value(*outcome->numbers));
    most = std::max(most, objective.value(*outcome->numbers));
  }
  return most - least <= kSame * most;
}

/// How many values beside the best one are ok, and how many are missing.
struct Neighbours {
  int ok = 0, missing = 0;
};

Neighbours neighbours_of(const AxisSlice& slice) {
  Neighbours beside;
  const auto look = [&](std::size_t place) {
    const auto& outcome = slice.outcomes[slice.order[place]];
    beside.missing += outcome ? 0 : 1;
    beside.ok += outcome && outcome->state == PointState::ok ? 1 : 0;
  };
  const std::size_t best = slice.flat->best;
  if (best > 0) look(best - 1);
  if (best + 1 < slice.order.size()) look(best + 1);
  return beside;
}

}  // namespace

std::string axis_title(const std::vector<SweepAxis>& axes, std::size_t axis) {
  std::string title;
  for (const std::string& path : axes[axis].paths)
    title += (title.empty() ? "" : ":") + short_title(axes, path);
  return title;
}

std::string point_title(const std::vector<SweepAxis>& axes, std::int64_t point) {
  const auto places = places_of(axes, point);
  std::string title;
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t p = 0; p < axes[a].paths.size(); ++p)
      title += fmt::format("{}{} {}", title.empty() ? "" : ", ",
                           short_title(axes, axes[a].paths[p]), axes[a].values[places[a]].texts[p]);
  return title;
}

std::string objective_text(const Objective& objective, double value) {
  switch (objective.aim) {
    case Aim::step_time:
      return humanise(Seconds{value}).text();
    case Aim::mfu:
      return percent(value);
    case Aim::memory:
      return humanise(Bytes{value}).text();
    case Aim::cost:
      return dollars(value);
    case Aim::samples_per_s:
    case Aim::tokens_per_s:
    case Aim::tokens_per_s_per_gpu:
      break;
  }
  return humanise(value, objective.title).text();
}

std::string distance_text(double value, double best) {
  if (value == best) return "best";
  const std::string text = fmt::format("{:+.1f} %", (value / best - 1) * 100);
  return text == "-0.0 %" ? "+0.0 %" : text;
}

std::string flatness_sentence(const SweepAnswer& answer, std::size_t axis) {
  if (axis >= answer.slices.size()) return "";
  const AxisSlice& slice = answer.slices[axis];
  const auto& values = answer.axes[axis].values;
  if (!slice.flat || values.size() < 2) return "";
  const auto text = [&](std::size_t place) { return text_of(values[slice.order[place]]); };
  const FlatRange& flat = *slice.flat;
  const std::string best = text(flat.best);
  if (flat.first == flat.last) {
    const bool at_end = flat.best == 0 || flat.best + 1 == slice.order.size();
    const auto beside = neighbours_of(slice);
    if (beside.ok == 0)
      return fmt::format("{}; {}", best,
                         beside.missing > 0 ? "the values beside it were not simulated"
                                            : "no value beside it is ok");
    if (beside.missing > 0)
      return fmt::format(
          "{}; the value on one side is worse by more than 1 %, the other was not "
          "simulated",
          best);
    return fmt::format("{}; no value beside it is within 1 %{}", best,
                       at_end ? ", and it is the last that was tried on that side" : "");
  }
  if (makes_no_difference(slice, *answer.objective))
    return fmt::format("makes no difference: {} to {} give the same", text(0),
                       text(slice.order.size() - 1));
  if (flat.first == 0 && flat.last + 1 == slice.order.size())
    return fmt::format("{}; all that were tried, {} to {}, are within 1 %", best, text(flat.first),
                       text(flat.last));
  return fmt::format("{}; anything from {} to {} is within 1 %", best, text(flat.first),
                     text(flat.last));
}

}  // namespace stepsim
