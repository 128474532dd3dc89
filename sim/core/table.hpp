// A table of texts, each with its place.
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
  std::vector<TableCell> cells;  ///< one for each column
};

struct Table {
  Place head;  ///< of the columns' names
  std::vector<std::string> columns;
  std::vector<TableRow> rows;

  /// columns.size() when there is none of that name.
  std::size_t index_of(const std::string& column) const;
};

/// Reads separated values: a line with the columns' names, then one line a row; lines that begin
/// with '#' are for people. What is wrong goes to the problems, and its row is left out.
Table read_table(const std::shared_ptr<const Source>& source, Problems& problems);

}  // namespace stepsim
