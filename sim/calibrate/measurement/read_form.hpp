// The forms that a file of measurements may have, each read by one function.
//
// All add to `file` what is well, and to `problems` what is not.
#pragma once

#include <memory>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/calibrate/measurement/written_record.hpp"
#include "sim/core/json_tree.hpp"
#include "sim/core/problems.hpp"

namespace stepsim {

/// "stepsim.measurements/1"
void read_schema_json(const JsonTree& json, MeasuredFile& file, Problems& problems);
/// nccl-tests' -J
void read_nccl_json(const JsonTree& json, MeasuredFile& file, Problems& problems);
/// What nccl-tests print.
void read_nccl_text(const std::shared_ptr<const Source>& source, MeasuredFile& file,
                    Problems& problems);
void read_table(const std::shared_ptr<const Source>& source, MeasuredFile& file,
                Problems& problems);

/// The device's facts from a row; those that it does not have are unknown where `all` is false.
DeviceFacts read_device(const WrittenRecord& row, bool all, Problems& problems);

/// When measuring began, "2026-01-31T12:00:00Z": a day at least, which sources name; "": unknown.
void take_started(const std::string& text, const Place& place, MeasuredFile& file,
                  Problems& problems);

}  // namespace stepsim
