// Draws the line that says how far a campaign is.
#include "calib/harness/progress.hpp"

#include <fmt/format.h>

#include "calib/harness/budget.hpp"

namespace stepsim::calib {

std::string progress_text(const Position& position, std::size_t width) {
  constexpr std::size_t kBar = 20;
  const std::size_t total = position.total > 0 ? position.total : 1;
  const std::size_t filled = kBar * position.done / total;
  const std::string limit =
      position.limit_s ? fmt::format(" of {}", clock_text(*position.limit_s)) : "";
  const std::string text = fmt::format(
      "[{}{}] {}/{}  {}{}  {}", std::string(filled, '#'), std::string(kBar - filled, '.'),
      position.done, position.total, clock_text(position.elapsed_s), limit, position.point);
  return text.substr(0, width);
}

void Progress::show(const Position& position) {
  if (terminal_) {
    out_ << "\r\033[K" << progress_text(position, width_) << std::flush;
    drawn_ = true;
    return;
  }
  const std::size_t tenth = position.total > 0 ? 10 * position.done / position.total : 10;
  if (tenth <= tenth_) return;
  tenth_ = tenth;
  out_ << progress_text(position, width_) << std::endl;
}

void Progress::clear() {
  if (drawn_) out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace stepsim::calib
