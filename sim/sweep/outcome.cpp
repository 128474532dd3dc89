// The names of what can become of a point.
#include "sim/sweep/outcome.hpp"

#include <array>

namespace stepsim {
namespace {

constexpr std::array<const char*, kPointStates> kNames{
    "ok", "too large", "refused", "failed", "timed out", "out of memory", "crashed"};

}  // namespace

const char* name_of(PointState state) { return kNames.at(static_cast<std::size_t>(state)); }

bool is_settled(PointState state) { return state < PointState::timed_out; }

std::optional<PointState> point_state_of(const std::string& name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<PointState>(i);
  return std::nullopt;
}

}  // namespace stepsim
