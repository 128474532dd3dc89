// A scenario in the making, as text.
#include "sim/import/draft.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/quantity.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

std::string commented(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "# " + title + "\n";
  for (std::string line : lines) {
    // A text of several lines would end the comment.
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\r', ' ');
    text += "#   " + line + "\n";
  }
  return text;
}

/// "key: value" with a value that is one: a word of the source's that would be read as further keys
/// is quoted.
std::string one_entry(const std::string& entry) {
  const std::size_t colon = entry.find(": ");
  if (colon == std::string::npos) return write_scalar(entry);
  const std::string value = entry.substr(colon + 2);
  const bool is_flow = value.starts_with('{') || value.starts_with('[');
  const bool is_known = is_flow ? is_one_flow(value)
                                : value == "~" || (value.starts_with('"') && value.ends_with('"'));
  return is_known ? entry : entry.substr(0, colon + 2) + write_scalar(value);
}

}  // namespace

bool is_one_flow(const std::string& value) {
  int depth = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == '"') i = std::min(value.find('"', i + 1), value.size() - 1);
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0 && i + 1 < value.size()) return false;
  }
  return depth == 0;
}

std::string to_string(const Assumption& assumption) {
  return fmt::format("{} {}: {} (state it: {})", assumption.what, assumption.value, assumption.why,
                     assumption.state);
}

void Draft::replace(const std::string& entry, const std::string& by) {
  const std::size_t at = body_.find(entry);
  if (at != std::string::npos) body_.replace(at, entry.size(), by);
}

void Draft::map(const std::string& key, const std::vector<std::string>& entries) {
  std::vector<std::string> all;
  for (const std::string& entry : entries) all.push_back(one_entry(entry));
  if (!all.empty()) line(fmt::format("{}: {{{}}}", key, fmt::join(all, ", ")));
}

std::string Draft::text() const {
  std::vector<std::string> assumed;
  for (const Assumption& assumption : assumptions_) assumed.push_back(to_string(assumption));
  return "# " + title_ + "\n" + commented("Assumed, because it is not stated:", assumed) +
         commented("Not simulated as stated:", notes_) + body_;
}

std::string size_text(double bytes) { return write_scalar(Bytes{bytes}); }

}  // namespace stepsim
