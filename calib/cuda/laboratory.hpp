// Everything that measuring on one GPU needs: it measures the point that it is given.
#pragma once

#include "calib/cuda/nvml.hpp"
#include "calib/cuda/team.hpp"
#include "calib/harness/capability.hpp"
#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_record.hpp"

namespace stepsim::calib::cuda {

class Laboratory {
 public:
  /// Makes a laboratory on one GPU. REQUIRES: why_no_device(device) is empty.
  explicit Laboratory(int device);

  const DeviceFacts& device() const { return facts_; }
  Versions versions() const;
  static Libraries libraries();

  /// Measures a point. Throws NotOffered, and CudaFailure when the GPU can no longer be used.
  Measured measure(const Point& point);

 private:
  Nvml nvml_;
  DeviceFacts facts_;
  Team team_;
};

}  // namespace stepsim::calib::cuda
