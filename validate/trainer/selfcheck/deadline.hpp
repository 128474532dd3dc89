// When a check has to be over, however slow the machine is.
#pragma once

#include <chrono>
#include <stdexcept>

namespace stepsim::selfcheck {

/// Thrown when the time was not enough, which says nothing about the predictions.
class OutOfTime : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Deadline {
 public:
  explicit Deadline(std::chrono::seconds from_now) : end_(Clock::now() + from_now) {}
  /// The seconds that are left. Throws OutOfTime where none are.
  double left() const {
    const double seconds = std::chrono::duration<double>(end_ - Clock::now()).count();
    if (seconds <= 0) throw OutOfTime("this machine is too slow for the time that it has");
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

}  // namespace stepsim::selfcheck
