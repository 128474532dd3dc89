// The words by which files name causes and kinds of rows, both ways.
#pragma once

#include <optional>
#include <string_view>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// `communication`, as traces spell it.
const char* name_of(RowKind kind);

/// The one of that name; nothing where none has it.
std::optional<Cause> cause_named(std::string_view name);
std::optional<RowKind> row_kind_named(std::string_view name);
std::optional<Axis> axis_named(std::string_view name);

}  // namespace stepsim
