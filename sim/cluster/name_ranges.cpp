// Writes ranges out as names, and names back as ranges.
#include "sim/cluster/name_ranges.hpp"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim {
namespace {

struct Range {
  std::size_t begin, end;  ///< where the range stands in the text
  long first, last;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The first range "A..B" of a text.
std::optional<Range> find_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::size_t begin = dots, end = dots + 2;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (begin == dots || end == dots + 2) return std::nullopt;
  constexpr std::size_t kMostDigits = 9;
  if (dots - begin > kMostDigits || end - dots - 2 > kMostDigits)
    // a number too long to read is larger than any
    return Range{begin, end, 0, std::numeric_limits<int>::max()};
  return Range{begin, end, std::stol(text.substr(begin)), std::stol(text.substr(dots + 2))};
}

/// "node 3" as "node " and 3; absent without a number at the end.
std::optional<std::pair<std::string, long>> numbered(const std::string& name) {
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  constexpr std::size_t kMostDigits = 9;
  if (digits == name.size() || name.size() - digits > kMostDigits) return std::nullopt;
  return std::pair{name.substr(0, digits), std::stol(name.substr(digits))};
}

}  // namespace

std::optional<std::vector<std::string>> expanded(const std::string& text) {
  constexpr long kMost = 100'000;
  const auto range = find_range(text);
  if (!range) return std::vector{text};
  if (range->last < range->first || range->last - range->first >= kMost) return std::nullopt;
  std::vector<std::string> names;
  for (long number = range->first; number <= range->last; ++number) {
    const auto each =
        expanded(text.substr(0, range->begin) + std::to_string(number) + text.substr(range->end));
    if (!each || names.size() + each->size() > kMost) return std::nullopt;
    names.insert(names.end(), each->begin(), each->end());
  }
  return names;
}

std::string contracted(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < names.size();) {
    const auto first = numbered(names[i]);
    std::size_t end = i + 1;
    while (first && end < names.size()) {
      const auto next = numbered(names[end]);
      if (!next || next->first != first->first ||
          next->second != first->second + static_cast<long>(end - i))
        break;
      ++end;
    }
    texts.push_back(end - i > 1 ? fmt::format("{}..{}", names[i], numbered(names[end - 1])->second)
                                : names[i]);
    i = end;
  }
  if (texts.size() > kMost) {
    const std::size_t more = texts.size() - kMost;
    texts.resize(kMost);
    texts.push_back(fmt::format("... ({} more)", more));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace stepsim
