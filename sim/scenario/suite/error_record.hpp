// The file of recorded errors: validate/recorded.yaml.
#pragma once

#include <string>

#include "sim/scenario/suite/tolerance.hpp"

namespace stepsim {

/// Throws UserError with every mistake, or IoError when the file cannot be read.
ErrorRecord load_error_record(const std::string& path);

/// The text of such a file.
std::string to_yaml(const ErrorRecord& record);

}  // namespace stepsim
