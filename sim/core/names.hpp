// The words of an enumeration, in both directions. C++17: kernels for GPUs are compiled as that.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stepsim {

/// All words of a choice, in the order in which messages list them. Each enumeration that has words
/// specialises it.
template <class E>
inline constexpr std::array<std::pair<std::string_view, E>, 0> kNames{};

/// The names of an enumeration in the order of its values, of which `last` is the last. Does not
/// compile where their number is another one.
template <class E, class... Name>
constexpr auto names_until(E last, Name... names) {
  if (sizeof...(Name) != static_cast<std::size_t>(last) + 1)
    throw std::logic_error("there are not as many names as values");
  std::size_t value = 0;
  return std::array<std::pair<std::string_view, E>, sizeof...(Name)>{
      std::pair<std::string_view, E>{names, static_cast<E>(value++)}...};
}

/// A template argument that is there for enumerations that have words alone.
template <class E>
using IfNamed = std::enable_if_t<!kNames<E>.empty()>;

/// "bf16"
template <class E, class = IfNamed<E>>
std::string name_of(E choice) {
  for (const auto& [name, value] : kNames<E>) {
    if (value == choice) return std::string(name);
  }
  return "";
}

template <class E, class = IfNamed<E>>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& [name, value] : kNames<E>) names.emplace_back(name);
  return names;
}

}  // namespace stepsim
