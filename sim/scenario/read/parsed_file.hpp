// Texts of files that a process reads again and again, parsed once.
//
// Each row of a suite and each point of a sweep names the same profiles, in a copy of the process
// that inherits what was parsed before. YAML is slow to parse: three quarters of loading a
// scenario.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// As parse_tree. A file whose text was parsed before and is still the same is not parsed again.
/// One thread at a time.
std::optional<Tree> parse_file(const std::shared_ptr<const Source>& source, const std::string& path,
                               Problems& problems);

}  // namespace stepsim
