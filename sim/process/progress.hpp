// A line of a terminal that is written over itself: how far, and how long it will take.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace stepsim {

class Progress {
 public:
  /// `shown`: false where nobody looks.
  Progress(std::ostream& notes, std::int64_t all, bool shown)
      : notes_(notes), all_(all), shown_(shown) {}
  /// One more is done.
  void step();
  /// Leaves an empty line.
  void end();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& notes_;
  std::int64_t all_, done_ = 0;
  bool shown_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace stepsim
