// Variables that a script asks of its environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/script/script_run.hpp"
#include "sim/import/script/script_text.hpp"

namespace stepsim {

struct AskedVariable {
  std::string name;  ///< "1", "2", ... are the script's arguments
  Place place;       ///< where it is asked first
  /// What the script takes where nobody sets it, as in ${NAME:-8}; nothing: it takes none.
  std::optional<std::string> preset;
  bool chooses = false;  ///< a condition asks for it
};

/// Variables that the scripts use and do not assign, but for `given` ones and those of bash itself;
/// in order of their names.
std::vector<AskedVariable> asked_variables(const ScriptText& text, const Variables& given);

}  // namespace stepsim
