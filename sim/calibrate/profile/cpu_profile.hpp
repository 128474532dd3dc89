// From measurements of a CPU to all files that a scenario needs to train on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/calibrate/profile/calibration.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"

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

/// The text of a core's profile without the generation, for those are NVIDIA's; a reader that finds
/// none takes what it takes for all others.
std::string without_architecture(std::string text);

/// A ring over two ranks takes two steps and S / bandwidth: so that it takes what was measured.
/// Nothing where too few sums were. Throws UserError where their times do not grow with their
/// bytes.
std::optional<LinkDraft> cpu_link(const MeasuredFile& file, const std::string& name,
                                  const ProfileOrigin& origin);

/// The text of a cluster whose core profile and, where the ranks are linked, link profile have this
/// name.
std::string cpu_cluster_text(const std::string& name, std::int64_t ranks, bool linked,
                             const ProfileOrigin& origin);

/// On as many ranks as were `measured`, but for a core that is left to loaders where the machine
/// has one. Pictures are loaded where their reading and decoding was measured.
std::string cpu_scenario_text(const std::string& name, std::int64_t measured, int cores,
                              const Records& records);

}  // namespace stepsim
