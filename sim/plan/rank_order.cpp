// Ranks as numbers whose digits are the dimensions.
#include "sim/plan/rank_order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stepsim {
namespace {

/// A dimension that numbers ranks, how many indices it has, and where a place keeps its index.
struct Digit {
  Axis axis;
  int size;
  int RankPlace::*index;
};

/// Asked for every rank: no memory is taken for it.
struct Digits {
  std::array<Digit, 4> all;
  std::size_t count = 0;
  const Digit* begin() const { return all.data(); }
  const Digit* end() const { return all.data() + count; }
};

/// Fastest first. Dimensions that the order leaves out have one index; experts have no digit of
/// their own.
Digits digits_of(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  const std::array all{
      Digit{Axis::tensor, split.tensor, &RankPlace::tensor},
      Digit{Axis::context, split.context.degree, &RankPlace::context},
      Digit{Axis::data, scenario.data_parallel(), &RankPlace::data},
      Digit{Axis::pipeline, split.pipeline.stages, &RankPlace::stage},
  };
  Digits digits{};
  for (const Axis axis : split.order.axes) {
    const auto digit =
        std::find_if(all.begin(), all.end(), [&](const Digit& d) { return d.axis == axis; });
    if (digit != all.end()) digits.all[digits.count++] = *digit;
  }
  return digits;
}

}  // namespace

RankPlace place_of(int rank, const Scenario& scenario) {
  RankPlace place;
  for (const Digit& digit : digits_of(scenario)) {
    place.*digit.index = rank % digit.size;
    rank /= digit.size;
  }
  return place;
}

int rank_at(RankPlace place, const Scenario& scenario) {
  int rank = 0;
  int stride = 1;
  for (const Digit& digit : digits_of(scenario)) {
    rank += place.*digit.index * stride;
    stride *= digit.size;
  }
  return rank;
}

std::vector<int> holders_of(int tensor, int stage, const Scenario& scenario) {
  std::vector<int> ranks;
  for (int data = 0; data < scenario.data_parallel(); ++data) {
    for (int context = 0; context < scenario.parallelism.context.degree; ++context)
      ranks.push_back(rank_at({tensor, context, data, stage}, scenario));
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
