// Writes repetitions out, groups before single characters, then counts.
#include "sim/import/megatron/pipeline_layout.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace stepsim {
namespace {

constexpr std::size_t kMostCharacters = 100'000;

/// The number behind a "*" at that place, and moves behind it; 1 where there is none.
std::size_t times_at(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '*') return 1;
  std::size_t times = 0;
  while (++at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0)
    times = std::min(times * 10 + static_cast<std::size_t>(text[at] - '0'), kMostCharacters);
  return times;
}

/// Appends the unit so often; false where it becomes too long.
bool append(std::string& out, std::string_view unit, std::size_t times) {
  if (out.size() + unit.size() * times > kMostCharacters) return false;
  for (std::size_t i = 0; i < times; ++i) out += unit;
  return true;
}

/// Writes "(...)*n" out; characters outside of groups stay.
std::optional<std::string> without_groups(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '(') {
      out += text[at++];
      continue;
    }
    const std::size_t end = text.find(')', at);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view unit = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (!append(out, unit, times_at(text, at))) return std::nullopt;
  }
  return out;
}

/// Writes "x*n" out.
std::optional<std::string> without_times(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view unit = text.substr(at++, 1);
    if (!append(out, unit, times_at(text, at))) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::int64_t>> layers_of_layout(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == ',' || c == ' '; });
  const auto ungrouped = without_groups(plain);
  const auto written_out = ungrouped ? without_times(*ungrouped) : std::nullopt;
  if (!written_out || written_out->find_first_not_of("EtmL|") != std::string::npos)
    return std::nullopt;
  const bool begins_and_ends = written_out->starts_with('E') && written_out->ends_with('L') &&
                               written_out->rfind('E') == 0 &&
                               written_out->find('L') + 1 == written_out->size();
  if (!begins_and_ends) return std::nullopt;
  std::vector<std::int64_t> layers(1, 0);
  for (const char c : *written_out) {
    if (c == '|') layers.push_back(0);
    if (c == 't') ++layers.back();
  }
  return layers;
}

}  // namespace stepsim
