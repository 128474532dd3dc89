// Files of measurements, whatever program wrote them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/calibrate/measurement/measurements.hpp"
#include "sim/core/problems.hpp"

namespace stepsim {

/// A file that was read, and where each record stands in it.
struct MeasuredFile {
  std::string name;
  Measurements content;
  std::vector<Place> places;  ///< the place of each record
};

/// By its content: JSON of this schema, JSON or text of nccl-tests, or else a table (CSV); see
/// docs/calibration.md. All mistakes go to `problems`, those too that make a point twice or that
/// cannot be true (why_implausible); what is returned then is not whole.
MeasuredFile read_measurements(const std::shared_ptr<const Source>& source, Problems& problems);

}  // namespace stepsim
