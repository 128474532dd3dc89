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

#include <fmt/format.h>

#include "sim/measurement/read_form.hpp"
#include "sim/measurement/read_row.hpp"

namespace stepsim::calib {
namespace {

struct Line {
  int number = 0;
  std::string text;
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::size_t from = 0;
  for (int number = 1; from < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) lines.push_back({number, line});
    from = end + 1;
  }
  return lines;
}

/// A value of a line and its column, from 1.
struct Cell {
  std::string text;
  int column = 1;
};

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

/// RFC 4180: a value may stand in quotes, a quote in it twice.
std::vector<Cell> cells_of(const std::string& line, char separator) {
  std::vector<Cell> cells;
  std::size_t at = 0;
  do {
    while (at < line.size() && line[at] == ' ') ++at;
    Cell cell{"", static_cast<int>(at) + 1};
    bool quoted_now = at < line.size() && line[at] == '"';
    if (quoted_now) ++at;
    for (; at < line.size() && (quoted_now || line[at] != separator); ++at) {
      if (quoted_now && line[at] == '"') {
        if (at + 1 == line.size() || line[at + 1] != '"') {
          quoted_now = false;
          continue;
        }
        ++at;
      }
      cell.text += line[at];
    }
    cell.text = trimmed(cell.text);
    cells.push_back(cell);
  } while (at++ < line.size());
  return cells;
}

char separator_of(const std::string& head) {
  if (head.find(',') != std::string::npos) return ',';
  return head.find('\t') != std::string::npos ? '\t' : ';';
}

/// All names of fields and results, of all kinds.
const std::vector<std::string>& field_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"kind",     "seconds", "p10",         "p90",     "repeats",
                                 "launches", "skipped", "sm_clock_hz", "power_w", "alone_seconds"};
    for (std::size_t i = 0; i < std::size(Names<Kind>::all); ++i) {
      const Point blank = blank_point(static_cast<Kind>(i));
      for_each_field(blank, [&](const char* name, const auto&) {
        if (std::find(all.begin(), all.end(), name) == all.end()) all.emplace_back(name);
      });
    }
    return all;
  }();
  return names;
}

bool is_field(const std::string& name) {
  const auto& names = field_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a column holds.
struct Column {
  std::string field;  ///< "": it is left out
  double unit = 1;
};

std::optional<Column> with_unit(const std::string& name) {
  struct Unit {
    const char* suffix;
    double factor;
  };
  constexpr Unit kTimes[] = {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}};
  constexpr Unit kSizes[] = {{"_bytes", 1}, {"_kib", 0x1p10}, {"_mib", 0x1p20}, {"_gib", 0x1p30},
                             {"_kb", 1e3},  {"_mb", 1e6},     {"_gb", 1e9}};
  static const std::map<std::string, std::string> kTimeNames{
      {"time", "seconds"}, {"seconds", "seconds"}, {"latency", "seconds"},
      {"p10", "p10"},      {"p90", "p90"},         {"alone", "alone_seconds"}};
  for (const Unit& unit : kTimes) {
    if (!name.ends_with(unit.suffix)) continue;
    const auto found =
        kTimeNames.find(name.substr(0, name.size() - std::string(unit.suffix).size()));
    if (found != kTimeNames.end()) return Column{found->second, unit.factor};
  }
  for (const Unit& unit : kSizes) {
    const std::string base =
        name.substr(0, name.size() - std::min(name.size(), std::string(unit.suffix).size()));
    if (name.ends_with(unit.suffix) && (base == "size" || base == "bytes"))
      return Column{"bytes", unit.factor};
  }
  return {};
}

/// The head of a table, and its rows.
class TableReader {
 public:
  TableReader(const std::shared_ptr<const Source>& source, MeasuredFile& file, Problems& problems)
      : source_(source), file_(file), problems_(problems) {}

  void read() {
    std::vector<Line> rows;
    for (const Line& line : lines_of(source_->text)) {
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
    const std::string name = trimmed(line.text.substr(from, equals - from));
    const std::string value = trimmed(line.text.substr(equals + 1));
    const int column = static_cast<int>(line.text.find_first_not_of(" \t", from)) + 1;
    const Place place{source_, line.number, column};
    const int at = static_cast<int>(line.text.find_first_not_of(" \t", equals + 1)) + 1;
    const Entry entry{name, place, value, {source_, line.number, std::max(at, column)}};
    if (name == "schema") {
      if (value != kMeasurementSchema)
        add(entry.place, fmt::format("the schema is {}, this program reads '{}'", quoted(value),
                                     kMeasurementSchema));
    } else if (name == "started") {
      file_.content.started = value;
    } else if (name.starts_with("software.")) {
      file_.content.software[name.substr(9)] = value;
    } else if (name.starts_with("device.")) {
      device_.entries.push_back(entry);
      device_.entries.back().name = name.substr(7);
    } else if (name == "ignore") {
      for (const Cell& cell : cells_of(value, ',')) ignored_.insert(cell.text);
    } else if (name.starts_with("column.")) {
      name_column(name.substr(7), value, place);
    } else if (is_field(name)) {
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
    named_[column] = is_field(field) ? Column{field} : *unit;
  }

  void finish_head() {
    device_.place = {source_, 1, 1};
    file_.content.device = read_device(device_, false, problems_);
  }

  bool read_columns(const Line& head) {
    bool good = true;
    std::set<std::string> fields;
    for (const Cell& cell : cells_of(head.text, separator_)) {
      const Place place{source_, head.number, cell.column};
      const auto column = column_of(cell.text);
      if (!column) {
        good = false;
        const std::string near = closest(cell.text, field_names());
        add(place, fmt::format("unknown column {}", quoted(cell.text)),
            near.empty() ? fmt::format("leave it out by a line '# ignore={}'", cell.text) : near);
        continue;
      }
      if (!column->field.empty() && !fields.insert(column->field).second) {
        good = false;
        add(place,
            fmt::format("column {} is the second one of '{}'", quoted(cell.text), column->field));
      }
      columns_.push_back(*column);
    }
    if (fields.count("seconds") == 0 && fields.count("launches") == 0) {
      add({source_, head.number, 1}, "no column has times",
          "call it seconds, time_us or time_ms, or say so by '# column.time_us=NAME'");
      good = false;
    }
    return good;
  }

  std::optional<Column> column_of(const std::string& name) const {
    if (ignored_.count(name) > 0) return Column{};
    if (const auto found = named_.find(name); found != named_.end()) return found->second;
    if (is_field(name)) return Column{name};
    return with_unit(name);
  }

  void read_line(const Line& line) {
    const std::vector<Cell> cells = cells_of(line.text, separator_);
    const Place start{source_, line.number, 1};
    if (cells.size() != columns_.size())
      return add(
          start,
          fmt::format("{} values, but the head has {} columns", cells.size(), columns_.size()),
          line.text == lines_of(source_->text).back().text ? "the file may have been cut off" : "");
    Row row{start, {}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Place place{source_, line.number, cells[i].column};
      if (!columns_[i].field.empty() && !cells[i].text.empty())
        row.entries.push_back(
            {columns_[i].field, place, cells[i].text, place, Written::bare, columns_[i].unit});
    }
    for (const Entry& constant : constants_)
      if (row.find(constant.name) == nullptr) row.entries.push_back(constant);
    add_table_defaults(row);
    const auto record = read_record(row, problems_);
    if (!record) return;
    file_.content.records.push_back(*record);
    file_.places.push_back(start);
  }

  std::shared_ptr<const Source> source_;
  MeasuredFile& file_;
  Problems& problems_;
  Row device_;
  std::vector<Entry> constants_;
  std::map<std::string, Column> named_;
  std::set<std::string> ignored_;
  std::vector<Column> columns_;
  char separator_ = ',';
};

}  // namespace

void read_table(const std::shared_ptr<const Source>& source, MeasuredFile& file,
                Problems& problems) {
  TableReader(source, file, problems).read();
}

}  // namespace stepsim::calib
