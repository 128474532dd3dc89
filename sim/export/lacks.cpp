// Refuses a scenario that a framework cannot run.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/export/export.hpp"
#include "sim/scenario/describe/lacking.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {

void refuse_what_framework_lacks(const Exporter& exporter, const Scenario& scenario) {
  const Framework framework = exporter.framework(scenario);
  std::vector<Diagnostic> refusals;
  for (const auto& [key, value, row] : lacking(framework, scenario)) {
    if (std::ranges::find(exporter.compared, key) != exporter.compared.end()) continue;
    refusals.push_back({.message = fmt::format("{}: {}: {} has {}{}{}", key, value,
                                               name_of(framework), one_of(row->values),
                                               row->beside_stages ? " beside pipeline stages" : "",
                                               row->note.empty() ? "" : " (" + row->note + ")")});
  }
  if (!refusals.empty()) throw UserError(refusals);
}

}  // namespace stepsim
