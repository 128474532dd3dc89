// Text in columns: widths, padding, wrapping, bars and colours of a terminal.
//
// Widths count code points, which is right for the characters that reports use (no wide and no
// combining ones).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// Where a command prints. Its caller looks: a pipe or a file wants no colour, and nobody watches
/// it.
struct Screen {
  bool colour = false;
  int width = 80;         ///< columns
  bool progress = false;  ///< somebody watches the notes: they may say how far the command is
};

enum class Paint { bold, dim, red, green, yellow };

/// The text with the escape codes of `paint` (SGR), or unchanged when the screen has no colour.
std::string painted(const Screen& screen, Paint paint, std::string_view text);

int width_of(std::string_view text);
std::string pad_left(std::string_view text, int width);  ///< aligned right
/// The text aligned right in its column; a text that is wider follows two blanks.
std::string in_column(std::string_view text, int width);
std::string pad_right(std::string_view text, int width);  ///< aligned left

/// The text's words in lines of at most `width`; a longer word has a line of its own.
std::vector<std::string> wrap(std::string_view text, int width);

/// A bar that fills `fraction` (0 to 1) of `width`, in eighths of a block; at least one eighth
/// above zero.
std::string solid_bar(double fraction, int width);
/// A bar of shaded blocks that fills `fraction` (0 to 1) of `width`. Shaded blocks have no eighths:
/// a bar above zero has at least one block.
std::string shaded_bar(double fraction, int width);

}  // namespace stepsim
