// A measurement that cannot be had.
#pragma once

#include <stdexcept>

namespace stepsim::calib {

/// Thrown by what measures a point: it cannot be had here, and the text says why.
class NotOffered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stepsim::calib
