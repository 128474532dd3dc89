// Counts the time since a campaign began, and writes it for people.
#include "calib/harness/budget.hpp"

#include <chrono>

#include <fmt/format.h>

namespace stepsim::calib {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds < 0 ? 0 : seconds);
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

Budget::Clock Budget::steady_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

}  // namespace stepsim::calib
