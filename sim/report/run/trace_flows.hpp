// Spans as slices of whole nanoseconds, and the arrows between slices that are two ends of one
// message.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

std::int64_t nanoseconds(double seconds);

/// A span in whole nanoseconds.
struct Slice {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// The slices of all spans of a rank; on a row, each starts where the one before it ended, or
/// later.
std::vector<Slice> slices_of(const RankTimeline& rank);

/// An end of an arrow: a moment strictly inside the slice of a span.
struct FlowLeg {
  std::uint64_t id = 0;
  std::int64_t at = 0;  ///< nanoseconds
  bool sends = false;
};

/// The arrows from sends to receives, found by step and message number. An arrow has both its ends
/// among the given ranks and points forward in time; a message without an arrow has no leg.
class Flows {
 public:
  explicit Flows(const std::vector<const RankTimeline*>& ranks);

  /// The leg at a span of one of those ranks, or nullptr.
  const FlowLeg* at(const Span& span) const;

 private:
  struct End {
    const Span* span = nullptr;
    std::int64_t at = 0;
  };

  void collect(const RankTimeline& rank, std::vector<End>& ends) const;
  void join(const std::vector<End>& ends);

  std::unordered_map<const Span*, FlowLeg> legs_;
};

}  // namespace stepsim
