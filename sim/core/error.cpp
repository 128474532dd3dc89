// Writes a diagnostic as a terminal shows it.
#include "sim/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr std::size_t kWidestLine = 160;  // a longer line is cut around the caret, to stay readable

/// The line and a caret under `column`; tabs keep their width so that the caret stays in place.
std::string with_caret(const std::string& line, int column) {
  const auto at = static_cast<std::size_t>(std::max(column, 1) - 1);
  const std::size_t from = at > kWidestLine / 2 ? at - kWidestLine / 2 : 0;
  std::string text = from < line.size() ? line.substr(from, kWidestLine) : "";
  std::string pad = text.substr(0, std::min(at - from, text.size()));
  pad.resize(at - from, ' ');
  std::replace_if(
      pad.begin(), pad.end(), [](char c) { return c != '\t'; }, ' ');
  return fmt::format("\n  {}\n  {}^", text, pad);
}

std::string all_of(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string text;
  if (!d.file.empty()) text += d.file + ":";
  if (d.line > 0) text += fmt::format("{}:{}:", d.line, d.column);
  if (!text.empty()) text += ' ';
  text += d.message;
  if (!d.proposal.empty()) text += ", " + d.proposal;
  if (!d.source_line.empty()) text += with_caret(d.source_line, d.column);
  return text;
}

UserError::UserError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(all_of(diagnostics)), diagnostics_(std::move(diagnostics)) {}

UserError::UserError(const std::string& message) : UserError({Diagnostic{.message = message}}) {}

}  // namespace stepsim
