// The space of a search: what each part of a strategy may be, and which combinations fit together.
//
// A frame is what the kernels and the pipeline of a strategy follow from; its variants differ in
// recompute and in what data parallelism does. What is no choice is left out, so that no two
// strategies are the same run: no schedule without stages, no bucket without overlap, no sharding
// without replicas. So is what the scenario's framework does not have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/search/strategy.hpp"

namespace stepsim {

/// The values of each axis. A walk leaves out degrees that do not divide the GPUs.
struct Axes {
  std::vector<int> gpus, tensor, context, expert, pipeline, chunks;
  std::vector<int> expert_tensor;  ///< 0: as many as share other layers
  /// How tokens reach experts of other ranks; absent: as the scenario has it.
  std::vector<std::optional<Dispatcher>> dispatcher{std::nullopt};
  std::vector<std::string> schedule;
  std::vector<std::int64_t> micro_batch;
  std::vector<bool> sequence;
  std::vector<std::string> recompute;  ///< none, selective, full; layers: of some; a ModuleSet
  std::vector<const Sharding*> sharding;
  std::vector<bool> overlap;
  std::vector<double> bucket;  ///< bytes; 0: as the scenario has it
  /// What strategies that shard parameters give up after forward; absent: as the scenario has it.
  std::vector<std::optional<Reshard>> reshard{std::nullopt};
  /// 0: all data ranks; kNodeShare: those of one node.
  std::vector<int> shard_degree{0};
};
/// A shard degree that depends on the other degrees: as many data ranks as a node has of them.
inline constexpr int kNodeShare = -1;

/// A degree of a strategy: the axis that it splits, its values and its place in a strategy.
struct SearchedDegree {
  Axis axis;
  std::vector<int> Axes::*values;
  int Strategy::*degree;
};
inline constexpr SearchedDegree kSearchedDegrees[] = {
    {Axis::tensor, &Axes::tensor, &Strategy::tensor},
    {Axis::context, &Axes::context, &Strategy::context},
    {Axis::expert, &Axes::expert, &Strategy::expert},
    {Axis::pipeline, &Axes::pipeline, &Strategy::stages},
};

/// Everything that is searched where nobody says otherwise, as far as the scenario's framework has
/// it (sim/scenario/describe/framework_abilities.hpp).
Axes axes_of(const SearchBase& base, const std::vector<int>& gpus);

/// Restricts an axis to values: "tensor=1,2,4". Throws UserError where it is not understood.
void restrict_axis(Axes& axes, const std::string& only);

/// A frame and its variants. What breaks a rule is left out and counted.
struct FrameVariants {
  Strategy frame;
  std::vector<Strategy> variants;
  std::int64_t refused = 0;
  std::vector<Strategy> refused_ones;  ///< what was left out, where that is wanted
};

/// What a walk keeps, and when it ends.
struct WalkOptions {
  bool keep_refused = false;
  std::function<bool()> stops;  ///< asked now and then; empty: never
};

/// Calls `visit` for each frame, in a fixed order.
void walk(const Axes& axes, const SearchBase& base,
          const std::function<void(const FrameVariants&)>& visit, const WalkOptions& options = {});

}  // namespace stepsim
