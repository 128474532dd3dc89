// What became of a point: its numbers, or why it has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/core/quantity.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

enum class PointState : std::uint8_t {
  ok,
  too_large,      ///< simulated, but it needs more memory than its GPUs have
  refused,        ///< there is no scenario: something does not divide or does not go together
  failed,         ///< the simulation could not complete
  timed_out,      ///< the simulation took longer than a point may
  out_of_memory,  ///< the simulation took more memory than a point may
  crashed,        ///< the process that simulated it ended without an answer
  count_
};
inline constexpr std::size_t kPointStates = static_cast<std::size_t>(PointState::count_);
/// The state as reports and files write it: "ok", "too large", "refused".
const char* name_of(PointState state);
/// The state with that name; nothing where there is none.
std::optional<PointState> point_state_of(const std::string& name);

/// Whether a point would have that state on another machine with other limits, too.
bool is_settled(PointState state);

/// The numbers of a simulated point.
struct PointNumbers {
  Seconds step;
  double mfu = 0;
  double tokens_per_s = 0;  ///< 0: the model has no tokens
  double samples_per_s = 0;
  Bytes peak, capacity;  ///< memory of one GPU: what it needs at most, and what it has
  double gpus = 0;
  /// price of a million tokens, or samples where there are no tokens; 0: no price
  double dollars = 0;
  CauseSeconds breakdown{};  ///< time of a step on the slowest stage, by cause; sums to `step`
};

struct Outcome {
  PointState state = PointState::ok;
  std::string reason;  ///< why there is no result, in a sentence; empty when the point is ok
  std::optional<PointNumbers> numbers;  ///< only where the state is ok or too large
};

struct SweepPoint {
  std::int64_t point = 0;  ///< index in the grid
  Outcome outcome;
  /// fingerprint of the scenario that the point resolves to; empty: it is refused
  std::string scenario;
  std::string build;  ///< version and hash of the build that simulated the point
};

/// Points that ended with one and the same state.
struct StateExample {
  PointState state = PointState::refused;
  std::int64_t count = 0;
  SweepPoint first;  ///< the first of them in the order of the grid
};

}  // namespace stepsim
