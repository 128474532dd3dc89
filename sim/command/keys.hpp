// stepsim keys: a key of a scenario, its type, range and default, or all keys that a word leads to.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/core/error.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct KeysOptions {
  /// A path, the end of one, another name of a key, or words with blanks between; empty: the maps.
  std::string wanted;
  Screen screen;
};

/// Prints the keys below the path, else the key that the word is another name of
/// (sim/scenario/read/other_names.hpp), else those that have all words in their path or meaning.
/// Throws UserError where there are none.
ExitCode keys(const KeysOptions& options, std::ostream& out);

}  // namespace stepsim
