// Functions that measure one kind of point each on the current device; each has a file of its own.
// All functions throw NotOffered and CudaFailure.
#pragma once

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_record.hpp"

namespace stepsim::calib::cuda {

class Team;

Measured measure_gemm(const GemmPoint& point, const DeviceFacts& device);
Measured measure_memory(const MemoryOpPoint& point, const DeviceFacts& device);
Measured measure_launch(const LaunchPoint& point);
Measured measure_queue();
Measured measure_copy(const CopyPoint& point);
Measured measure_overlap(const OverlapPoint& point, Team& team);
Measured measure_collective(const CollectivePoint& point, Team& team);

}  // namespace stepsim::calib::cuda
