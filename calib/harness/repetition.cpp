// Chooses how often a kernel is repeated, by its time and its bytes.
#include "calib/harness/repetition.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::calib {

int turns_for(std::int64_t footprint, std::int64_t l2_bytes, std::int64_t free_bytes) {
  constexpr std::int64_t kTimesCache = 8, kMost = 256;
  const std::int64_t set = std::max<std::int64_t>(footprint, 1);
  const std::int64_t wanted = (kTimesCache * l2_bytes + set - 1) / set;
  const std::int64_t room = free_bytes / 5 * 4 / set;
  return static_cast<int>(std::max<std::int64_t>(1, std::min({wanted, room, kMost})));
}

Repetition repetition_for(double once_s, int turns) {
  constexpr double kSample = 1e-3, kAll = 0.15, kMostInner = 1000;
  const double once = std::max(once_s, 1e-7);
  const double inner = std::clamp(std::ceil(kSample / once), 1.0, kMostInner);
  Repetition repetition;
  repetition.inner = std::max(static_cast<int>(inner), turns);
  repetition.repeats =
      static_cast<int>(std::clamp(std::ceil(kAll / (once * repetition.inner)), 5.0, 50.0));
  return repetition;
}

}  // namespace stepsim::calib
