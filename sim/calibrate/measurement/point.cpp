// What all kinds of points have in common.
#include "sim/calibrate/measurement/point.hpp"

#include <type_traits>

#include <fmt/format.h>

namespace stepsim {
namespace {

template <std::size_t Index = 0>
Point blank_of(std::size_t kind) {
  if constexpr (Index + 1 < std::variant_size_v<Point>) {
    if (kind != Index) return blank_of<Index + 1>(kind);
  }
  return Point{std::in_place_index<Index>};
}

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace

PointKind kind_of(const Point& point) {
  return std::visit([](const auto& self) { return std::decay_t<decltype(self)>::kKind; }, point);
}

Point blank_point(PointKind kind) { return blank_of(static_cast<std::size_t>(kind)); }

std::string identity(const Point& point) {
  std::string text = name_of(kind_of(point));
  for_each_told_field(point, [&](const char* name, const auto& value) {
    text += fmt::format(" {}={}", name, text_of(value));
  });
  return text;
}

}  // namespace stepsim
