// What `stepsim validate` finds out, ready to be printed.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/judgement.hpp"
#include "sim/validation/score.hpp"

namespace stepsim {

struct SuiteResult {
  std::string name, title, source;
  std::vector<std::string> assumptions;
  std::vector<ValidationRow> rows;
  Score score;
  std::vector<SuiteLimit> limits;
};

struct Validation {
  std::vector<SuiteResult> suites;
  std::vector<ValidationRow> rows;  ///< rows of all suites
  Score total;
  std::vector<Breach> breaches;
  bool interrupted = false;  ///< true: rows are missing, for somebody pressed Ctrl-C
};

}  // namespace stepsim
