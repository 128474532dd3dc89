// stepsim schema: a JSON schema of scenarios, models, clusters, profiles, suites and sweeps.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace stepsim {

/// What there is a schema of: "scenario", "model", ...
std::vector<std::string> schemas();

/// Prints the schema, JSON of draft 7, with which editors complete keys and validators check files.
/// REQUIRES: `what` is one of schemas().
ExitCode schema(const std::string& what, std::ostream& out);

}  // namespace stepsim
