// A line through times of messages: t = latency + bytes / bandwidth.
//
// By weighted least squares of the relative error, which has a closed form: with weights 1/t^2 the
// sum of ((a + b s)/t - 1)^2 is least where its two derivatives are zero.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim::fit {

struct Message {
  Bytes bytes;
  Seconds seconds;
};

struct Line {
  Seconds latency;
  double seconds_per_byte = 0;
  /// R squared of the weighted fit: 1 - residual over variance. Nothing of two sizes or one, which
  /// are on any line.
  std::optional<double> r_squared;
  Seconds time(Bytes bytes) const {
    return Seconds{latency.seconds() + seconds_per_byte * bytes.bytes()};
  }
};

/// `least`: the least time a byte, of a link that cannot be faster. A latency is not below 0. Where
/// all sizes are equal the line has that slope. REQUIRES: at least one message.
Line line_through(const std::vector<Message>& messages, double least = 0);

}  // namespace stepsim::fit
