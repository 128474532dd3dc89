// Tables as people keep them: CSV, TSV, or columns with semicolons; each cell knows its place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

struct TableCell {
  std::string text;
  Place place;
};

struct TableRow {
  Place place;
  std::vector<TableCell> cells;  ///< as many cells as the table has columns
};

struct Table {
  Place head;  ///< place of the line with the columns' names
  std::vector<std::string> columns;
  std::vector<TableRow> rows;

  /// The index of the column with that name; columns.size() when there is none.
  std::size_t index_of(const std::string& column) const;
};

/// Reads separated values: a line with the columns' names, then one line a row. Lines that begin
/// with '#' are for people. A row with a mistake is left out, and the mistake goes to `problems`.
Table read_table(const std::shared_ptr<const Source>& source, Problems& problems);

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
