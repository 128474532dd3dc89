// A table cut into lines, and a line at its separators.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// A value of a line and its column, from 1.
struct Cell {
  std::string text;
  int column = 1;
  bool is_open = false;  ///< its quote does not end
};

/// A line of a text, without its end.
struct Line {
  int number = 0;  ///< from 1
  std::string text;
};

/// Those that are not blank. A mark of the byte order, as Excel writes it, is left out.
std::vector<Line> lines_of(const std::string& text);

/// RFC 4180: a value may stand in quotes, a quote in it twice. Blanks around a value go.
std::vector<Cell> cells_of(const std::string& line, char separator);

/// Comma, else tab, else semicolon: by the line with the columns' names.
char separator_of(const std::string& head);

}  // namespace stepsim
