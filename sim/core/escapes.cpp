// Drops escape sequences of terminals.
#include "sim/core/escapes.hpp"

namespace stepsim {
namespace {

/// The byte behind the sequence that begins at `at`.
std::size_t end_of_sequence(const std::string& text, std::size_t at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  const auto behind = [&](std::size_t last) {
    return last == std::string::npos ? text.size() : last + 1;
  };
  if (kind == ']') return behind(text.find('\a', at));
  if (kind != '[') return at + 1;
  std::size_t i = at + 2;
  while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;  // parameters
  return behind(i);
}

}  // namespace

std::string without_escapes(const std::string& text) {
  if (text.find('\x1b') == std::string::npos) return text;
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\x1b') {
      i = end_of_sequence(text, i);
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

}  // namespace stepsim
