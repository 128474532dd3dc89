// Ranks as numbers whose digits are the dimensions.
#include "sim/scenario/rank_order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stepsim {
/// Dimensions that the order leaves out have one index; experts have no digit of their own.
RankOrdering::RankOrdering(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  const std::array all{
      Digit{Axis::tensor, split.tensor, &RankPlace::tensor},
      Digit{Axis::context, split.context.degree, &RankPlace::context},
      Digit{Axis::data, scenario.data_parallel(), &RankPlace::data},
      Digit{Axis::pipeline, split.pipeline.stages, &RankPlace::stage},
  };
  for (const Axis axis : split.order.axes) {
    const auto digit =
        std::find_if(all.begin(), all.end(), [&](const Digit& d) { return d.axis == axis; });
    if (digit != all.end()) digits_.push_back(*digit);
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
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

int expert_index(int i, const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  const auto& order = split.order.axes;
  const auto expert = std::find(order.begin(), order.end(), Axis::expert);
  const auto data = std::find(order.begin(), order.end(), Axis::data);
  const int degree = split.expert.degree;
  return expert < data ? i % degree : i / (scenario.replicas() / degree);
}

}  // namespace stepsim
