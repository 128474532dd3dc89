// Lists on one line, as YAML's flow style has them.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

/// Of what is written already.
inline std::string flow_list_of(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

template <class T>
std::string flow_list(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(write_scalar(value));
  return flow_list_of(texts);
}

}  // namespace stepsim
