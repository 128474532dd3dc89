// A table cut into lines, and a line cut at its separators.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// One value of a line, and the column (from 1) where it begins.
struct Cell {
  std::string text;
  int column = 1;
  bool is_open = false;  ///< true: the quote around it does not end
};

/// One line of a text, without its end.
struct Line {
  int number = 0;  ///< counted from 1
  std::string text;
};

/// The lines that are not blank. The byte order mark that Excel writes is left out.
std::vector<Line> lines_of(const std::string& text);

/// The cells of a line. A value may stand in quotes, and a quote inside them twice (RFC 4180).
/// Blanks around a value are dropped.
std::vector<Cell> cells_of(const std::string& line, char separator);

/// The separator of a table by the line with its columns' names: comma, else tab, else semicolon.
char separator_of(const std::string& head);

}  // namespace stepsim
