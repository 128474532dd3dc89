// Ranks as numbers whose digits are the dimensions.
#include "sim/scenario/rank_order.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stepsim {
namespace {

struct NumberedAxis {
  Axis axis;
  int (*degree)(const Scenario& scenario);
  int RankPlace::*index;  ///< nothing: it is dealt over ranks that other axes number
};

constexpr NumberedAxis kNumbered[] = {
    {Axis::tensor, [](const Scenario& s) { return s.parallelism.tensor; }, &RankPlace::tensor},
    {Axis::context, [](const Scenario& s) { return s.parallelism.context.degree; },
     &RankPlace::context},
    {Axis::expert, [](const Scenario& s) { return s.parallelism.expert.degree; }, nullptr},
    {Axis::data, [](const Scenario& s) { return s.data_parallel(); }, &RankPlace::data},
    {Axis::pipeline, [](const Scenario& s) { return s.parallelism.pipeline.stages; },
     &RankPlace::stage},
};
static_assert(std::size(kNumbered) == kOrderedAxes.size(), "an axis has no degree");

const NumberedAxis& numbered(Axis axis) {
  return *std::ranges::find(kNumbered, axis, &NumberedAxis::axis);
}

}  // namespace

int degree_of(Axis axis, const Scenario& scenario) { return numbered(axis).degree(scenario); }

/// Dimensions that the order leaves out have one index.
RankOrdering::RankOrdering(const Scenario& scenario) {
  for (const Axis axis : scenario.parallelism.order.axes) {
    const NumberedAxis& one = numbered(axis);
    if (one.index != nullptr) digits_.push_back({axis, one.degree(scenario), one.index});
  }
}

RankPlace RankOrdering::place_of(int rank) const {
  RankPlace place;
  for (const Digit& digit : digits_) {
    place.*digit.index = rank % digit.size;
    rank /= digit.size;
  }
  return place;
}

int RankOrdering::rank_at(RankPlace place) const {
  int rank = 0;
  int stride = 1;
  for (const Digit& digit : digits_) {
    rank += place.*digit.index * stride;
    stride *= digit.size;
  }
  return rank;
}

const RankOrdering::Digit* RankOrdering::digit_of(Axis axis) const {
  const auto digit = std::ranges::find(digits_, axis, &Digit::axis);
  return digit == digits_.end() ? nullptr : &*digit;
}

std::vector<int> RankOrdering::along(Axis axis, RankPlace place) const {
  const Digit* digit = digit_of(axis);
  if (digit == nullptr) return {rank_at(place)};
  std::vector<int> ranks;
  for (int& i = place.*(digit->index) = 0; i < digit->size; ++i) ranks.push_back(rank_at(place));
  return ranks;
}

std::vector<std::vector<int>> RankOrdering::all_along(Axis axis, int stage) const {
  std::vector<RankPlace> places{{.stage = stage}};
  for (auto other = kOrderedAxes.rbegin(); other != kOrderedAxes.rend(); ++other) {
    const Digit* digit = digit_of(*other);
    if (digit == nullptr || *other == axis || *other == Axis::pipeline) continue;
    std::vector<RankPlace> more;
    for (RankPlace place : places) {
      for (int& i = place.*(digit->index) = 0; i < digit->size; ++i) more.push_back(place);
    }
    places = std::move(more);
  }
  std::vector<std::vector<int>> groups;
  for (const RankPlace& place : places) groups.push_back(along(axis, place));
  return groups;
}

int rank_at(RankPlace place, const Scenario& scenario) {
  return RankOrdering(scenario).rank_at(place);
}

std::vector<int> holders_of(int tensor, int stage, const Scenario& scenario) {
  const RankOrdering order(scenario);
  std::vector<int> ranks;
  for (int data = 0; data < scenario.data_parallel(); ++data) {
    for (int context = 0; context < scenario.parallelism.context.degree; ++context)
      ranks.push_back(order.rank_at({tensor, context, data, stage}));
  }
  if (!std::ranges::is_sorted(ranks)) std::ranges::sort(ranks);  // in the usual order they are
  return ranks;
}

}  // namespace stepsim
