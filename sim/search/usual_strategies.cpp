// Restricts axes to values that scripts of Megatron-LM, FSDP and DeepSpeed state most.
#include "sim/search/usual_strategies.hpp"

#include <algorithm>
#include <initializer_list>

namespace stepsim {
namespace {

template <class T, class Wanted>
void keep_if_any(std::vector<T>& values, const Wanted& wanted) {
  std::vector<T> kept;
  std::ranges::copy_if(values, std::back_inserter(kept), wanted);
  if (!kept.empty()) values = std::move(kept);
}

template <class T>
void keep_of(std::vector<T>& values, std::initializer_list<T> usual) {
  keep_if_any(values,
              [&](const T& value) { return std::ranges::find(usual, value) != usual.end(); });
}

Axes usual_axes(const Axes& axes) {
  Axes usual = axes;
  keep_of(usual.tensor, {1, 2, 4, 8});
  keep_of(usual.context, {1});
  keep_of(usual.pipeline, {1, 2, 4, 8, 16});
  keep_of(usual.micro_batch, {std::int64_t{1}, std::int64_t{2}});
  keep_of<std::string>(usual.schedule, {"1f1b", "interleaved"});
  keep_of<std::string>(usual.recompute, {"none", "full"});
  keep_if_any(usual.sharding, [](const Sharding* sharding) {
    return sharding->name == "zero1" || sharding->name == "zero3";
  });
  keep_of(usual.bucket, {0.0});
  keep_of(usual.shard_degree, {0});
  keep_of(usual.overlap, {true});
  if (usual.chunks.size() > 2) {
    const auto most = *std::ranges::max_element(usual.chunks);
    keep_if_any(usual.chunks, [&](int chunks) { return chunks <= 5 || chunks == most; });
  }
  return usual;
}

}  // namespace

std::vector<TriedStrategy> usual_strategies(const Axes& axes, const SearchBase& base,
                                            Bounds& bounds, Bytes capacity, std::size_t most,
                                            const std::function<bool()>& stops) {
  std::vector<TriedStrategy> usual;
  const auto visit = [&](const FrameVariants& frame) {
    for (const Strategy& strategy : frame.variants) {
      const Bound bound = bounds.of(strategy);
      if (bound.memory <= capacity) usual.push_back({strategy, bound, {}});
    }
  };
  walk(usual_axes(axes), base, visit, {.keep_refused = false, .stops = stops});
  // Strategies with equal bounds stay in the order of the walk, so that answers are the same bytes.
  std::ranges::stable_sort(usual, {}, [](const TriedStrategy& one) { return one.bound.step; });
  usual.resize(std::min(usual.size(), most));
  return usual;
}

}  // namespace stepsim
