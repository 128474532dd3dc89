// The curve of a group, and the straight line between two of its sizes.
#include "sim/plan/group/fabric_curve.hpp"

#include <algorithm>

namespace stepsim {

const FabricCurve* curve_of(CollectiveOp op, const GroupShape& group, const Cluster& cluster) {
  if (group.nodes <= 1 || !cluster.inter_node) return nullptr;
  for (const FabricCurve& curve : cluster.inter_node->measured) {
    if (curve.op == op && curve.nodes == group.nodes && curve.ranks == group.ranks &&
        !curve.sizes.empty())
      return &curve;
  }
  return nullptr;
}

Bytes nearest_within(const FabricCurve& curve, Bytes bytes) {
  const auto [least, most] = std::minmax_element(
      curve.sizes.begin(), curve.sizes.end(),
      [](const MeasuredSize& a, const MeasuredSize& b) { return a.bytes < b.bytes; });
  return std::clamp(bytes, least->bytes, most->bytes);
}

Seconds time_on(const FabricCurve& curve, Bytes bytes) {
  const MeasuredSize *below = nullptr, *above = nullptr;
  for (const MeasuredSize& size : curve.sizes) {
    if (size.bytes <= bytes && (below == nullptr || size.bytes > below->bytes)) below = &size;
    if (size.bytes >= bytes && (above == nullptr || size.bytes < above->bytes)) above = &size;
  }
  if (below->bytes == above->bytes) return below->time;
  const double share = (bytes - below->bytes) / (above->bytes - below->bytes);
  return below->time * (1 - share) + above->time * share;
}

}  // namespace stepsim
