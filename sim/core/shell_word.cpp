// Puts a word into quotes where a shell needs them.
#include "sim/core/shell_word.hpp"

#include <algorithm>

#include "sim/core/source.hpp"

namespace stepsim {

std::string shell_word(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string shown_path(const std::string& path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::ranges::any_of(path, is_control) ? quoted_path(path) : path;
}

}  // namespace stepsim
