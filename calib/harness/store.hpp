// The file of measurements on disk, which is whole at any moment.
#pragma once

#include <optional>
#include <string>

#include "sim/calibrate/measurement/measurements.hpp"

namespace stepsim::calib {

/// Writes the text to a temporary name beside the file and renames it. Throws IoError.
void replace_file(const std::string& path, const std::string& text);

/// The measurements in the file; absent when there is no file. Throws UserError as
/// parse_measurements does, and IoError.
std::optional<Measurements> load_measurements(const std::string& path);

/// Throws UserError when the file holds measurements of another GPU than this one.
void check_same_device(const Measurements& earlier, const DeviceFacts& device,
                       const std::string& path);

}  // namespace stepsim::calib
