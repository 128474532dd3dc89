// From measurements of a CPU to all files that a scenario needs to train on it.
#pragma once

#include <string>

#include "sim/calibrate/profile/calibration.hpp"

namespace stepsim {

/// Texts of files, which stepsim reads without a complaint.
struct CpuProfile {
  std::string gpu_text;       ///< a core as a device
  std::string link_text;      ///< MPI between processes; empty: a single rank was measured
  std::string cluster_text;   ///< a node with a device for each measured rank
  std::string scenario_text;  ///< a training to start from; its data, in the end, may be left out
  std::vector<FamilyReport> families;
};

/// Profiles and cluster called `name`, of a machine with so many cores. Throws UserError where the
/// measurements lack what a training on CPUs needs.
CpuProfile cpu_profile(const MeasuredFile& file, const std::string& name, int cores);

}  // namespace stepsim
