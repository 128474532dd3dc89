// Programs that are called, and what they print.
#pragma once

#include <string>

namespace stepsim::selfcheck {

/// Throws std::runtime_error with what it printed unless it ends well.
std::string output_of(const std::string& command);

/// The named column of the only row. No cell before it may have a comma.
double cell(const std::string& csv, const std::string& column);

/// A number of stepsim's JSON, by its key.
double number_in(const std::string& json, const std::string& key);

}  // namespace stepsim::selfcheck
