// What tells segments of one scenario apart.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/plan/program/stage_shape.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

/// How a backward pass reduces gradients: not at all, in buckets, or in one that ends the pass.
/// Where parameters are sharded each block is one.
enum class Reduction { none, buckets, one_bucket };

/// What a forward pass does about parameters that were updated in shards: nothing, they are there;
/// or it waits for them bucket by bucket, and each was asked for where it is needed, when the one
/// before had come, or before the pass.
enum class ParameterGather { none, when_needed, one_ahead, given };

/// All that a segment depends on, besides the scenario: stages in the middle of a pipeline have the
/// same ones.
struct SegmentKey {
  PassKind pass = PassKind::forward;
  Reduction reduction = Reduction::none;
  ParameterGather gather = ParameterGather::none;
  std::vector<std::size_t> blocks;
  StageShape shape;  ///< shape without what only the rest of a program depends on
  auto operator<=>(const SegmentKey&) const = default;
};

}  // namespace stepsim
