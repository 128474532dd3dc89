// A result that `stepsim run --format json` printed, read again.
#pragma once

#include <memory>

#include "sim/core/source.hpp"
#include "sim/report/measure/comparison.hpp"

namespace stepsim {

/// Whether a file is meant as one, rather than as a scenario: by its name, or by a `schema` in it.
bool is_meant_as_result(const Source& source);

/// Throws UserError with every mistake.
ResultFacts read_result(const std::shared_ptr<const Source>& source);

}  // namespace stepsim
