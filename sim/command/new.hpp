// stepsim new: a scenario to start from, with a word on each setting.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"

namespace stepsim {

struct NewOptions {
  std::string name;    ///< of the template; empty: lists them
  std::string output;  ///< file to write; empty: standard output
  bool force = false;  ///< the file replaces any
};

/// Prints or writes a template of scenarios/templates/, or lists what there is, one a line. Throws
/// UserError where there is none of that name.
ExitCode new_scenario(const NewOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
