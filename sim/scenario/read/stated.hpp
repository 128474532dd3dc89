// Which keys a scenario states itself, in its file or by --set.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/scenario/load.hpp"

namespace stepsim {

/// Their dotted paths, those of maps among them. Throws UserError or IoError where the file cannot
/// be read.
std::set<std::string> stated_keys(const std::string& path, const std::vector<Override>& overrides);

}  // namespace stepsim
