// stepsim search --clusters: the best strategy on each of several clusters, side by side.
#pragma once

#include <iosfwd>

#include "sim/command/search/search.hpp"

namespace stepsim {

/// Searches each cluster of `options.clusters` with as many GPUs. One that cannot run the scenario
/// is listed with the reason. Throws UserError where the list is not understood or none can.
ExitCode search_clusters(const SearchOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
