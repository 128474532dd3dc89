// How long a measurement may take.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stepsim::calib {

/// A time as on a clock: "2:41", "1:02:03".
std::string clock_text(double seconds);

/// A budget that counts from its construction, by a clock in seconds that tests replace.
class Budget {
 public:
  using Clock = std::function<double()>;
  static Clock steady_clock();

  Budget(std::optional<double> limit_seconds, Clock clock)
      : limit_(limit_seconds), clock_(std::move(clock)), start_(clock_()) {}

  double elapsed() const { return clock_() - start_; }
  const std::optional<double>& limit() const { return limit_; }
  bool spent() const { return limit_ && elapsed() >= *limit_; }

 private:
  std::optional<double> limit_;
  Clock clock_;
  double start_;
};

}  // namespace stepsim::calib
