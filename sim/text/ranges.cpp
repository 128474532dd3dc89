// Writes ranges as long as their step stays, and reads them one after the other.
#include "sim/text/ranges.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr std::size_t kMost = 1'000'000;  // more ranks than any cluster has

/// Takes a number from the front of the text.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes a number behind that mark; what there is without the mark is `otherwise`.
std::optional<int> take_behind(char mark, int otherwise, std::string_view& text) {
  if (!text.starts_with(mark)) return otherwise;
  text.remove_prefix(1);
  return take_number(text);
}

bool add_range(std::string_view text, std::vector<int>& numbers) {
  const auto first = take_number(text);
  if (!first) return false;
  const auto last = take_behind('-', *first, text);
  const auto step = last ? take_behind(':', 1, text) : std::nullopt;
  if (!step || *step < 1 || *last < *first || !text.empty()) return false;
  const auto more = static_cast<std::size_t>((*last - *first) / *step) + 1;
  if (numbers.size() + more > kMost) return false;
  for (std::size_t i = 0; i < more; ++i) numbers.push_back(*first + static_cast<int>(i) * *step);
  return true;
}

}  // namespace

std::string ranges_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    const int step = i + 1 < numbers.size() ? numbers[i + 1] - numbers[i] : 1;
    while (last + 1 < numbers.size() && numbers[last + 1] - numbers[last] == step) ++last;
    if (last == i + 1 && step > 1) last = i;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    if (last > i && step > 1) text += fmt::format(":{}", step);
    i = last + 1;
  }
  return text;
}

std::optional<std::vector<int>> numbers_of_ranges(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (!add_range(text.substr(0, comma), numbers)) return std::nullopt;
    text.remove_prefix(comma);
    if (text == ",") return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace stepsim
