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
  refused,        ///< no scenario: something does not divide or does not go together
  failed,         ///< the simulation could not complete
  timed_out,      ///< it took longer than a point may
  out_of_memory,  ///< the simulation of it took more memory than a point may
  crashed,        ///< its process ended without an answer
  count_
};
inline constexpr std::size_t kPointStates = static_cast<std::size_t>(PointState::count_);
/// "ok", "too large", "refused": as reports and files have it.
const char* name_of(PointState state);
/// Nothing for another word.
std::optional<PointState> point_state_of(const std::string& name);

/// Whether it would be the same on another machine, with other limits.
bool is_settled(PointState state);

/// The numbers of a simulated point.
struct PointNumbers {
  Seconds step;
  double mfu = 0;
  double tokens_per_s = 0;  ///< 0: it has no tokens
  double samples_per_s = 0;
  Bytes peak, capacity;  ///< of a GPU's memory
  double gpus = 0;
  double dollars = 0;        ///< of a million tokens, or samples without these; 0: no price
  CauseSeconds breakdown{};  ///< of a step of the slowest stage; sums to `step`
};

struct Outcome {
  PointState state = PointState::ok;
  std::string reason;                   ///< in a sentence; empty when it is ok
  std::optional<PointNumbers> numbers;  ///< of those that are ok or too large
};

struct SweepPoint {
  std::int64_t point = 0;  ///< its place in the grid
  Outcome outcome;
  std::string scenario;  ///< fingerprint of what it resolves to; empty: it is refused
  std::string build;     ///< version of the program that simulated it, and hash of its build
};

/// Points that did not end well in the same way.
struct StateExample {
  PointState state = PointState::refused;
  std::int64_t count = 0;
  SweepPoint first;  ///< in the order of the grid
};

}  // namespace stepsim
