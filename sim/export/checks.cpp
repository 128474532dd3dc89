// Gathers refusals, so that one export names all.
#include "sim/export/checks.hpp"

#include "sim/core/error.hpp"

namespace stepsim {

void throw_refusals(const std::vector<Check>& checks) {
  std::vector<Diagnostic> refusals;
  for (const Check& check : checks)
    if (check.refuses) refusals.push_back({.message = check.message});
  if (!refusals.empty()) throw UserError(refusals);
}

}  // namespace stepsim
