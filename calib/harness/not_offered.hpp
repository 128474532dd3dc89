// An exception for a measurement that cannot be made.
#pragma once

#include <stdexcept>

namespace stepsim::calib {

/// Thrown by what measures a point that cannot be measured here; the text says why.
class NotOffered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace stepsim::calib
