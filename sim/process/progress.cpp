// The bar, the rate and the time left.
#include "sim/process/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr int kCells = 24;

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

void PointsProgress::step() {
  ++done_;
  const auto now = Clock::now();
  if (!line_.shown() || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double so_far = std::chrono::duration<double>(now - begin_).count();
  const double left = so_far / static_cast<double>(done_) * static_cast<double>(all_ - done_);
  const int cells = static_cast<int>(kCells * done_ / std::max<std::int64_t>(all_, 1));
  std::string bar;
  for (int i = 0; i < kCells; ++i) bar += i < cells ? "█" : "░";
  line_.show(fmt::format("{} {} of {} points, {:.0f} a second, {} left ", bar, done_, all_,
                         static_cast<double>(done_) / std::max(so_far, 1e-3), time_text(left)));
}

}  // namespace stepsim
