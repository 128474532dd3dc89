// How long all evaluations of a script may take together.
#pragma once

#include <chrono>

namespace stepsim {

/// Counts the time of processors, and that of the clock, since it was made.
class TrialTime {
 public:
  /// Whether no more may begin. A busy machine makes the clock go faster, so that it has more of it.
  bool is_over() const;

 private:
  static double cpu_seconds_of_children();

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double cpu_begin_ = cpu_seconds_of_children();
};

}  // namespace stepsim
