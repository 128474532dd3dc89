// A scenario in the making, as text.
#include "sim/import/draft.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/quantity.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

std::string commented(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = "# " + title + "\n";
  for (const std::string& line : lines) text += "#   " + line + "\n";
  return text;
}

}  // namespace

std::string to_string(const Assumption& assumption) {
  return fmt::format("{} {}: {} (state it: {})", assumption.what, assumption.value, assumption.why,
                     assumption.state);
}

void Draft::map(const std::string& key, const std::vector<std::string>& entries) {
  if (!entries.empty()) line(fmt::format("{}: {{{}}}", key, fmt::join(entries, ", ")));
}

std::string Draft::text() const {
  std::vector<std::string> assumed;
  for (const Assumption& assumption : assumptions_) assumed.push_back(to_string(assumption));
  return "# " + title_ + "\n" + commented("Assumed, because it is not stated:", assumed) +
         commented("Not simulated as stated:", notes_) + body_;
}

std::string size_text(double bytes) { return write_scalar(Bytes{bytes}); }

}  // namespace stepsim
