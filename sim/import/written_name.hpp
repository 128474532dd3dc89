// Names of models and clusters, as the file that is written has to say them.
#pragma once

#include <string>

#include "sim/import/import_options.hpp"

namespace stepsim {

/// A name as it is; a path as it is seen from the folder of the file that is written, because
/// scenarios look there, and not where the command ran.
std::string written_name(const std::string& name, const ImportOptions& options);

}  // namespace stepsim
