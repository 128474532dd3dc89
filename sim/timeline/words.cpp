// Tables of words, searched from either side.
#include "sim/timeline/words.hpp"

#include <array>
#include <cstddef>

namespace stepsim {
namespace {

constexpr std::array kRowKinds{"compute", "host", "communication", "copy", "loader", "storage"};
static_assert(kRowKinds.size() == static_cast<std::size_t>(RowKind::storage) + 1,
              "a kind of row has no name");

/// The value below `count` that has that name.
template <class Value>
std::optional<Value> named(std::string_view name, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name == name_of(static_cast<Value>(i))) return static_cast<Value>(i);
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(RowKind kind) { return kRowKinds.at(static_cast<std::size_t>(kind)); }

std::optional<Cause> cause_named(std::string_view name) { return named<Cause>(name, kCauses); }
std::optional<RowKind> row_kind_named(std::string_view name) {
  return named<RowKind>(name, kRowKinds.size());
}
std::optional<Axis> axis_named(std::string_view name) { return named<Axis>(name, kAxes); }

}  // namespace stepsim
