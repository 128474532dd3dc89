// A table of texts, each cell with its place.
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

}  // namespace stepsim
