// Calls programs, and reads what they print.
#pragma once

#include <string>

namespace stepsim::selfcheck {

/// What a command prints. Throws std::runtime_error, with what it printed, unless it ends well.
std::string output_of(const std::string& command);

/// The named column of the only row of a CSV. REQUIRES: no cell before it has a comma.
double cell(const std::string& csv, const std::string& column);

/// A number of stepsim's JSON, by its key.
double number_in(const std::string& json, const std::string& key);

}  // namespace stepsim::selfcheck
