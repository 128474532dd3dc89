// Lines of a terminal that are written over themselves: how far a command is.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace stepsim {

class ProgressLine {
 public:
  /// `shown`: false where nobody looks.
  ProgressLine(std::ostream& notes, bool shown) : notes_(notes), shown_(shown) {}
  ~ProgressLine() { show(""); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool shown() const { return shown_; }
  /// Writes the text in place of what the line says.
  void show(const std::string& text) const {
    if (shown_) notes_ << "\r\033[K" << text << std::flush;
  }

 private:
  std::ostream& notes_;
  bool shown_;
};

/// How many points are done, their rate, and how long the others will take. Leaves an empty line.
class PointsProgress {
 public:
  PointsProgress(std::ostream& notes, std::int64_t all, bool shown)
      : line_(notes, shown), all_(all) {}
  /// Says that one more is done.
  void step();

 private:
  using Clock = std::chrono::steady_clock;

  ProgressLine line_;
  std::int64_t all_, done_ = 0;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace stepsim
