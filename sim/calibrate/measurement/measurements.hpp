// The file of measurements, format "stepsim.measurements/1" (docs/calibration.md).
#pragma once

#include <string>
#include <vector>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_record.hpp"

namespace stepsim {

inline constexpr const char* kMeasurementSchema = "stepsim.measurements/1";

struct Measurements {
  DeviceFacts device;
  Versions software;
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  std::vector<PointRecord> records;
};

/// The file's text, one line a record. Throws InternalError for a number that is not finite.
std::string to_json(const Measurements& measurements);

/// The inverse. Strict: throws UserError with every mistake and its place in `file`: what is no
/// JSON, another schema, keys that are unknown or missing, words that do not exist, numbers that
/// are not positive, and a point that is there twice.
Measurements parse_measurements(const std::string& text, const std::string& file);

}  // namespace stepsim
