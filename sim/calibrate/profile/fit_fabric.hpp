// The network between nodes, from collectives over several of them.
#pragma once

#include <string>
#include <vector>

#include "sim/calibrate/profile/profile_draft.hpp"

namespace stepsim {

struct FabricFit {
  Cluster cluster;  ///< the base with what was fitted
  std::vector<FamilyReport> families;
  std::string latency_from, efficiency_from;  ///< how each came about, or why it is as it was
};

/// A curve for each group that was measured, which holds for groups of as many GPUs on as many nodes
/// alone. For all others the hop's latency is that with which small messages take as long as
/// measured, in the middle, and the efficiency is what large ones reach of a NIC, where any fill
/// it. REQUIRES: a fabric in `base`, and no more GPUs of a node in the records than it has.
FabricFit fit_fabric(const Records& records, const Cluster& base);

/// A cluster file with the base's name or path in it.
std::string fabric_text(const FabricFit& fit, const std::string& base, const ProfileOrigin& origin);

}  // namespace stepsim
