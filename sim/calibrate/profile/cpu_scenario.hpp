// The cluster of a CPU's cores, and a training on it to start from.
#pragma once

#include <cstdint>
#include <string>

#include "sim/calibrate/profile/profile_draft.hpp"

namespace stepsim {

/// The text of a cluster whose core profile and, where the ranks are linked, link profile have this
/// name.
std::string cpu_cluster_text(const std::string& name, std::int64_t ranks, bool linked,
                             const ProfileOrigin& origin);

/// On as many ranks as were `measured`, but for a core that is left to loaders where the machine
/// has one. Pictures are loaded where their reading and decoding was measured.
std::string cpu_scenario_text(const std::string& name, std::int64_t measured, int cores,
                              const Records& records);

}  // namespace stepsim
