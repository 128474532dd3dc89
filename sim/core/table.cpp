// Turns lines of text into rows of a table.
#include "sim/core/table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/core/table_cells.hpp"
#include "sim/core/trim.hpp"

namespace stepsim {
namespace {

/// Far above any table of measurements; each column that nobody knows is a mistake with a line of
/// its own.
constexpr std::size_t kMostColumns = 1000;

void read_columns(const std::vector<Cell>& head, int line,
                  const std::shared_ptr<const Source>& source, Table& table, Problems& problems) {
  std::set<std::string> seen;
  for (const Cell& cell : head) {
    const Place place{source, line, cell.column};
    if (cell.text.empty()) {
      problems.add(place, "", "a column has no name");
    } else if (!seen.insert(cell.text).second) {
      problems.add(place, "", fmt::format("column {} is here twice", quoted(cell.text)));
    }
    table.columns.push_back(cell.text);
  }
}

/// Whether the source is text that can be read as a table; reports why where it is not.
bool is_readable(const std::shared_ptr<const Source>& source, Problems& problems) {
  const std::string& text = source->text;
  if (text.size() > kLargestMeasurements) {
    problems.add({source, 0, 0}, "",
                 fmt::format("the file is larger than {} MiB", kLargestMeasurements >> 20));
    return false;
  }
  const std::size_t bad = first_non_text(text);
  if (bad == std::string::npos) return true;
  problems.add(place_at(source, bad), "",
               fmt::format("byte 0x{:02x} is not text: a table is text in UTF-8",
                           static_cast<unsigned char>(text[bad])));
  return false;
}

}  // namespace

std::size_t Table::index_of(const std::string& column) const {
  return static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
}

Table read_table(const std::shared_ptr<const Source>& source, Problems& problems) {
  Table table{.head = {source, 1, 1}};
  if (!is_readable(source, problems)) return table;
  std::vector<Line> lines = lines_of(source->text);
  std::erase_if(lines, [](const Line& line) { return trimmed(line.text, " \t").front() == '#'; });
  if (lines.empty()) {
    problems.add({source, 1, 1}, "", "there is no line with the columns' names");
    return table;
  }
  table.head.line = lines.front().number;
  const char separator = separator_of(lines.front().text);
  const std::vector<Cell> head = cells_of(lines.front().text, separator);
  if (head.size() > kMostColumns) {
    problems.add(
        table.head, "",
        fmt::format("the head has {} columns, and a table {} at most", head.size(), kMostColumns),
        "is this the table that you mean?");
    return table;
  }
  read_columns(head, lines.front().number, source, table, problems);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<Cell> cells = cells_of(lines[i].text, separator);
    TableRow row{.place = {source, lines[i].number, 1}};
    const Cell& last = cells.back();
    if (last.is_open) {
      problems.add({source, lines[i].number, last.column}, "", "this quote does not end");
    } else if (cells.size() != table.columns.size()) {
      problems.add(row.place, "",
                   fmt::format("{} values, but the head has {} columns", cells.size(),
                               table.columns.size()));
    } else {
      for (const Cell& cell : cells)
        row.cells.push_back({cell.text, {source, lines[i].number, cell.column}});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace stepsim
