// Writes a text as a cell of CSV.
#pragma once

#include <string>

namespace stepsim {

/// The text, in quotes where RFC 4180 asks for them.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

}  // namespace stepsim
