// Tables: comma-separated values, under a head of `# name=value` lines (docs/calibration.md).
//
// A table of another program will do, where its head says what its columns leave open: `#
// kind=gemm` and `# dtype=bf16` hold for every row, `# column.sequence=seq` names a field's column,
// `# ignore=gflops` leaves columns out, and a column's name may end in its unit (`time_us`,
// `size_bytes`, `bytes_mib`).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/calibrate/measurement/read_form.hpp"
#include "sim/calibrate/measurement/read_record.hpp"
#include "sim/calibrate/measurement/table_columns.hpp"
#include "sim/core/table_cells.hpp"
#include "sim/core/trim.hpp"

namespace stepsim {
namespace {

std::string in_lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// The head of a table, and its rows.
class TableReader {
 public:
  TableReader(const std::shared_ptr<const Source>& source, MeasuredFile& file, Problems& problems)
      : source_(source), file_(file), problems_(problems) {}

  void read() {
    std::vector<Line> rows;
    for (const Line& line : lines_of(source_->text)) {
      last_line_ = line.number;
      const std::size_t at = line.text.find_first_not_of(" \t");
      if (line.text[at] == '#') {
        read_comment(line, at + 1);
      } else {
        rows.push_back(line);
      }
    }
    finish_head();
    if (rows.empty()) return add({source_, 1, 1}, "there is no line with the columns' names");
    separator_ = separator_of(rows.front().text);
    if (!read_columns(rows.front())) return;
    for (std::size_t i = 1; i < rows.size(); ++i) read_line(rows[i]);
  }

 private:
  void add(const Place& place, const std::string& message, const std::string& proposal = "") {
    problems_.add(place, "", message, proposal);
  }

  /// `# name=value`; other comments are for people.
  void read_comment(const Line& line, std::size_t from) {
    const std::size_t equals = line.text.find('=', from);
    if (equals == std::string::npos) return;
    const std::string name = trimmed(line.text.substr(from, equals - from), " \t");
    const std::string value = trimmed(line.text.substr(equals + 1), " \t");
    const int column = static_cast<int>(line.text.find_first_not_of(" \t", from)) + 1;
    const Place place{source_, line.number, column};
    const int at = static_cast<int>(line.text.find_first_not_of(" \t", equals + 1)) + 1;
    const WrittenField entry{name, place, value, {source_, line.number, std::max(at, column)}};
    if (name == "schema") {
      if (value != kMeasurementSchema)
        add(entry.place, fmt::format("the schema is {}, this program reads '{}'", quoted(value),
                                     kMeasurementSchema));
    } else if (name == "started") {
      take_started(value, entry.place, file_, problems_);
    } else if (name.starts_with("software.")) {
      file_.content.software[name.substr(9)] = value;
    } else if (name.starts_with("device.")) {
      device_.fields.push_back(entry);
      device_.fields.back().name = name.substr(7);
    } else if (name == "ignore") {
      for (const Cell& cell : cells_of(value, ',')) ignored_.emplace(cell.text, entry.place);
    } else if (name.starts_with("column.")) {
      name_column(name.substr(7), value, place);
    } else if (is_field(name)) {
      for (const WrittenField& other : constants_)
        if (other.name == name)
          add(place, fmt::format("'{}' is stated in line {}, too", name, other.place.line),
              "one value holds for every row; several are a column");
      constants_.push_back(entry);
    } else if (nearest(name, field_names())) {
      add(place, fmt::format("unknown field {}", quoted(name)), did_you_mean(name, field_names()));
    }
  }

  void name_column(const std::string& field, const std::string& column, const Place& place) {
    const auto unit = with_unit(field);
    if (!is_field(field) && !unit)
      return add(place, fmt::format("unknown field {}", quoted(field)),
                 did_you_mean(field, field_names()));
    named_[column] = {is_field(field) ? TableColumn{field} : *unit, place};
  }

  void finish_head() {
    device_.place = {source_, 1, 1};
    file_.content.device = read_device(device_, false, problems_);
  }

  bool read_columns(const Line& head) {
    bool good = true;
    std::set<std::string> fields;
    const std::vector<Cell> cells = cells_of(head.text, separator_);
    head_ = head.number;
    for (const Cell& cell : cells) {
      const Place place{source_, head_, cell.column};
      const auto column = column_of(cell.text);
      if (!column) {
        good = false;
        const std::string near = closest(cell.text, field_names());
        add(place, fmt::format("unknown column {}", quoted(cell.text)),
            near.empty() ? fmt::format("say which field it is by a line '# column.FIELD={0}', or "
                                       "leave it out by '# ignore={0}'",
                                       cell.text)
                         : near);
        continue;
      }
      if (!column->field.empty() && !fields.insert(column->field).second) {
        good = false;
        add(place,
            fmt::format("column {} is the second one of '{}'", quoted(cell.text), column->field));
      }
      columns_.push_back(*column);
    }
    if (!check_named(cells)) good = false;
    if (!check_units(cells)) good = false;
    if (fields.count("seconds") == 0 && fields.count("launches") == 0) {
      add({source_, head.number, 1}, "no column has times",
          "call it seconds, time_us or time_ms, or say so by '# column.time_us=NAME'");
      good = false;
    }
    return good;
  }

  /// `# ignore=` and `# column.` name columns that are there.
  bool check_named(const std::vector<Cell>& cells) {
    std::vector<std::string> names;
    for (const Cell& cell : cells) names.push_back(cell.text);
    bool good = true;
    const auto check = [&](const std::string& name, const Place& place) {
      if (std::ranges::find(names, name) != names.end()) return;
      good = false;
      add(place, fmt::format("there is no column {}", quoted(name)), did_you_mean(name, names));
    };
    for (const auto& [name, place] : ignored_) check(name, place);
    for (const auto& [name, column] : named_) check(name, column.second);
    return good;
  }

  /// A bare percentile beside times in other units may be in either.
  bool check_units(const std::vector<Cell>& cells) {
    const auto times = std::ranges::find_if(columns_, [](const TableColumn& column) {
      return column.field == "seconds" && column.unit != 1;
    });
    if (times == columns_.end()) return true;
    const std::string& name = cells[static_cast<std::size_t>(times - columns_.begin())].text;
    bool good = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& text = cells[i].text;
      if (text != "p10" && text != "p90") continue;
      good = false;
      add({source_, head_, cells[i].column},
          fmt::format("{} has no unit, and the times are in {}", quoted(text), quoted(name)),
          fmt::format("call it {0}_us or {0}_s", text));
    }
    return good;
  }

  std::optional<TableColumn> column_of(const std::string& name) const {
    if (ignored_.count(name) > 0) return TableColumn{};
    if (const auto found = named_.find(name); found != named_.end()) return found->second.first;
    const std::string lower = in_lower_case(name);
    if (is_field(lower)) return TableColumn{lower};
    return with_unit(lower);
  }

  void read_line(const Line& line) {
    const std::vector<Cell> cells = cells_of(line.text, separator_);
    const Place start{source_, line.number, 1};
    if (cells.back().is_open)
      return add({source_, line.number, cells.back().column},
                 "a quote begins here and does not end");
    if (cells.size() != columns_.size())
      return add(
          start,
          fmt::format("{} values, but the head has {} columns", cells.size(), columns_.size()),
          line.number == last_line_ ? "the file may have been cut off" : "");
    WrittenRecord row{start, {}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Place place{source_, line.number, cells[i].column};
      if (!columns_[i].field.empty() && !cells[i].text.empty())
        row.fields.push_back(
            {columns_[i].field, place, cells[i].text, place, ValueForm::bare, columns_[i].unit});
    }
    for (const WrittenField& constant : constants_)
      if (row.find(constant.name) == nullptr) row.fields.push_back(constant);
    add_table_defaults(row);
    const auto record = read_record(row, problems_);
    if (!record) return;
    file_.content.records.push_back(*record);
    file_.places.push_back(start);
  }

  std::shared_ptr<const Source> source_;
  MeasuredFile& file_;
  Problems& problems_;
  WrittenRecord device_;
  std::vector<WrittenField> constants_;
  std::map<std::string, std::pair<TableColumn, Place>> named_;  // by the column's name in the table
  std::map<std::string, Place> ignored_;
  std::vector<TableColumn> columns_;
  char separator_ = ',';
  int head_ = 1;  // line of the columns' names
  int last_line_ = 0;
};

}  // namespace

void read_table(const std::shared_ptr<const Source>& source, MeasuredFile& file,
                Problems& problems) {
  TableReader(source, file, problems).read();
}

}  // namespace stepsim
