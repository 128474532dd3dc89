// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

struct ChildOutput {
  int code = 0;      ///< exit code of the program; 128 and the signal where it was killed
  std::string text;  ///< what the program printed to standard output
};

/// Runs the program at words[0] (a path, or a name on PATH) with nothing to read; what it prints to
/// standard error goes there. `variables` ("NAME=value") are its alone, beside those of this
/// process. After `limit` it is ended. Throws SimulationError where it cannot be started or took
/// too long.
ChildOutput output_of_child(const std::vector<std::string>& words, Seconds limit,
                            const std::vector<std::string>& variables = {});

/// The file of that name in a folder of PATH that may be run; "" where there is none.
std::string find_on_path(const std::string& name);

}  // namespace stepsim
