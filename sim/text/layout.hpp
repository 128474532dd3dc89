// Text in columns: widths, padding, wrapping, bars and colours of a terminal.
//
// Widths count code points, which is right for the characters that reports use (no wide or
// combining ones).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// How a terminal wants its text. The caller finds out; a pipe or a file wants no colour.
struct Style {
  bool colour = false;
  int width = 80;
};

enum class Paint { bold, dim, red, green, yellow };

/// The text in that paint (SGR escape codes), or as it is when the style has no colour.
std::string painted(const Style& style, Paint paint, std::string_view text);

int width_of(std::string_view text);
std::string pad_left(std::string_view text, int width);  ///< aligned right
/// The same, and two blanks before what is wider than its column.
std::string in_column(std::string_view text, int width);
std::string pad_right(std::string_view text, int width);  ///< aligned left

/// The words of the text in lines of at most `width`; a longer word has a line of its own.
std::vector<std::string> wrap(std::string_view text, int width);

/// `fraction` (0 to 1) of `width` in eighths of a block; at least one eighth above zero.
std::string solid_bar(double fraction, int width);
/// The same in shaded blocks, which have no eighths; at least one block above zero.
std::string shaded_bar(double fraction, int width);

}  // namespace stepsim
