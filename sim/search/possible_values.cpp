// Degrees against those that divide.
#include "sim/search/possible_values.hpp"

#include <algorithm>

#include <fmt/ranges.h>

namespace stepsim {
namespace {

/// People do not read more than these.
constexpr std::size_t kNamed = 16;

template <class Value>
void add(std::string& text, const char* axis, const std::vector<Value>& whole,
         const std::vector<Value>& restricted) {
  const bool has_one = std::ranges::any_of(restricted, [&](const Value& value) {
    return std::ranges::find(whole, value) != whole.end();
  });
  if (has_one || whole.empty()) return;
  const auto named = static_cast<std::ptrdiff_t>(std::min(whole.size(), kNamed));
  text += fmt::format("{}{} can be {}{}", text.empty() ? "" : "; ", axis,
                      fmt::join(whole.begin(), whole.begin() + named, ", "),
                      whole.size() > kNamed ? ", ..." : "");
}

}  // namespace

std::string possible_values(const Axes& whole, const Axes& restricted) {
  std::string text;
  for (const auto& [axis, values, degree] : kSearchedDegrees)
    add(text, name_of(axis), whole.*values, restricted.*values);
  add(text, "chunks", whole.chunks, restricted.chunks);
  add(text, "micro_batch", whole.micro_batch, restricted.micro_batch);
  return text;
}

}  // namespace stepsim
