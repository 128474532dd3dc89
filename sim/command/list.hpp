// stepsim list: every name that a scenario may use.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace stepsim {

/// What can be listed: "models", "gpus", "schedules", ...
std::vector<std::string> listings();

/// The folder of the library whose files are listed; "" where no files are. REQUIRES: a listing.
std::string folder_of_listing(const std::string& what);

/// Its names alone. REQUIRES: `what` is a listing.
std::vector<std::string> names_of_listing(const std::string& what);

/// Prints the names of one of the listings that scenarios may use. REQUIRES: `what` is a listing.
ExitCode list(const std::string& what, std::ostream& out);

}  // namespace stepsim
