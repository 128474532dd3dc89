// A text without the blanks at its ends.
#pragma once

#include <string>

namespace stepsim {

inline std::string trimmed(const std::string& text, const char* blanks = " \t\r\n") {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The text with spaces instead of line breaks, and none at the end.
inline std::string on_one_line(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  return trimmed(text);
}

}  // namespace stepsim
