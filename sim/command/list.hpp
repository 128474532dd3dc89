// stepsim list: every name that a scenario may use.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"

namespace stepsim {

/// Prints the names that scenarios may use: models, gpus, attention kernels, links, clusters,
/// collectives, distributions, schedules, topologies, shardings.
ExitCode list(const std::string& what, std::ostream& out);

}  // namespace stepsim
