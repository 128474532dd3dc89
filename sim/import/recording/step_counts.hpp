// How often things happen in a step of a recording: operators, annotations, calls of the runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// A step is one of the optimizer's where fewer of them were recorded than steps are marked (the
/// program marks each micro-batch), else a marked one; without marks it is all that was recorded.
class StepCounts {
 public:
  /// Which names count.
  using Which = std::function<bool(std::string_view)>;

  explicit StepCounts(const Recording& recording);

  /// Calls outside of backward passes, in the median step; 0: there are none.
  double forward(std::string_view name) const;
  /// Calls within backward passes: what is computed again.
  double recomputed(std::string_view name) const;
  /// Calls of those names that lie in no other call of one of them on their thread.
  double outermost(const Which& which) const;
  /// Whether one of the names stands in the recording.
  bool has(const Which& which) const;
  /// Calls of each of the recording's shapes outside of backward passes, in the median step.
  std::vector<double> forward_shapes() const;
  /// What the median step has of these.
  struct Amount {
    Nanoseconds at = 0;
    double amount = 1;
  };
  double of_step(const std::vector<Amount>& amounts) const;

  bool marks_steps() const { return marks_steps_; }
  std::size_t optimizer_steps() const { return optimizer_steps_; }
  /// The steps that are counted.
  Interval window() const { return {steps_.front().start, steps_.back().end}; }
  const Recording& recording() const { return recording_; }

 private:
  double calls(std::string_view name, bool is_backward) const;
  /// By name, whether the event is a backward pass or a part of one.
  std::vector<bool> backward_names() const;

  const Recording& recording_;
  std::vector<Interval> steps_;
  bool marks_steps_ = false;
  std::size_t optimizer_steps_ = 0;
};

}  // namespace stepsim
