// Text in columns: widths, padding, wrapping, bars and colours of a terminal.
#include "sim/text/layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace stepsim {
namespace {

/// The Select Graphic Rendition parameters of ECMA-48 for the paints, in their order.
constexpr std::array kCodes{1, 2, 31, 32, 33};

constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

/// How many of `steps` bar steps a fraction fills: at least one above zero.
int filled(double fraction, int steps) {
  if (!(fraction > 0)) return 0;
  const double whole = std::round(std::min(fraction, 1.0) * steps);
  return std::max(1, static_cast<int>(whole));
}

}  // namespace

std::string painted(const Screen& screen, Paint paint, std::string_view text) {
  if (!screen.colour || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(paint)), text);
}

int width_of(std::string_view text) {
  const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<int>(std::ranges::count_if(text, starts));
}

std::string pad_left(std::string_view text, int width) {
  return repeated(" ", width - width_of(text)).append(text);
}

std::string in_column(std::string_view text, int width) {
  return width_of(text) < width ? pad_left(text, width) : "  " + std::string(text);
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text).append(repeated(" ", width - width_of(text)));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const bool fits = width_of(lines.back()) + 1 + width_of(word) <= width;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string solid_bar(double fraction, int width) {
  const int eighths = filled(fraction, width * 8);
  return repeated("█", eighths / 8) + kEighths[static_cast<std::size_t>(eighths % 8)];
}

std::string shaded_bar(double fraction, int width) {
  return repeated("░", filled(fraction, width));
}

}  // namespace stepsim
