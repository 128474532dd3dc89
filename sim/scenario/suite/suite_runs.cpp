// Expressions against columns, then row by row.
#include "sim/scenario/suite/suite_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sim/core/suggest.hpp"
#include "sim/core/trim.hpp"
#include "sim/scenario/read/expression.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

constexpr const char* kFilter = "--filter";
// Beyond these a cell is mistyped, or its unit is.
constexpr Seconds kShortest{1e-9}, kLongest{1e9};

/// A phrase that parsed.
struct Compiled {
  std::string path;   ///< path of its key: "map.parallelism.tensor"
  std::string title;  ///< what its messages begin with
  const Phrase* phrase;
  Expression expression;
};

/// A place on the command line says what it is about by itself.
std::string title_of(const std::string& path) { return path == kFilter ? "" : path + ": "; }

/// What is wrong with a row.
struct RowError {
  Place place;
  std::string message;
  std::string proposal;
};

/// The place of a byte of a phrase, where its line has the text as it is.
Place within(const Phrase& phrase, int offset) {
  Place place = phrase.place;
  if (place.source && place.source->is_override) {
    place.column = offset + 1;
    return place;
  }
  const auto column = static_cast<std::size_t>(std::max(place.column - 1, 0));
  const std::string line = place.source ? place.source->line(place.line) : "";
  if (column < line.size() && line.compare(column, phrase.text.size(), phrase.text) == 0)
    place.column += offset;
  return place;
}

class Runs {
 public:
  Runs(const Suite& suite, const Table& table, const RowRules& rules, Problems& problems)
      : suite_(suite), table_(table), rules_(rules), problems_(problems) {
    where_ = compiled("where", suite.where);
    if (!problems.spoiled("measured")) measured_ = compiled("measured", suite.measured.value);
    label_ = compiled("label", suite.label);
    for (const NamedPhrase& s : suite.map) keep(settings_, "map." + s.name, s.phrase);
    for (const NamedPhrase& u : suite.unseen) keep(unseen_, "unseen." + u.name, u.phrase);
    for (const NamedPhrase& g : suite.groups) keep(groups_, "groups." + g.name, g.phrase);
    for (std::size_t i = 0; i < suite.known.size(); ++i)
      keep(known_, fmt::format("known[{}].where", i), suite.known[i].where);
    filter_names_.insert("suite");
    for (const NamedPhrase& g : suite.groups) filter_names_.insert(g.name);
    filter_ = compiled(kFilter, rules.filter, filter_names_);
    note_numeric_columns();
  }

  std::vector<MeasuredRun> all() {
    std::vector<MeasuredRun> runs;
    if (!is_sound_) return runs;
    for (const TableRow& row : table_.rows) {
      MeasuredRun run{.label = default_label(row), .place = row.place};
      errors_.clear();
      if (where_ && !holds(*where_, row, nullptr, true)) continue;
      is_any_row_left_ = true;
      name(run, row);
      if (filter_ && !holds(*filter_, row, &run, true)) continue;
      fill(run, row);
      if (report_errors() && rules_.is_strict) continue;
      if (!errors_.empty()) run.refusal = errors_.front().message;
      runs.push_back(std::move(run));
    }
    refuse_idle_conditions();
    return runs;
  }

 private:
  /// A condition of the suite that none of its rows meets is misspelt, or about rows that went
  /// away.
  void refuse_idle_conditions() {
    if (!rules_.is_strict || filter_ || table_.rows.empty() || !problems_.empty()) return;
    const auto refuse_idle = [&](const Compiled& one) {
      problems_.add(within(*one.phrase, 0), one.path,
                    fmt::format("{}no row meets {}", one.title, stepsim::quoted(one.phrase->text)),
                    "texts are compared as they are written in the table");
    };
    if (where_ && !is_any_row_left_) return refuse_idle(*where_);
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (known_used_.count(i) == 0) refuse_idle(known_[i]);
  }

  void keep(std::vector<Compiled>& list, const std::string& path, const Phrase& phrase) {
    if (auto one = compiled(path, phrase)) list.push_back(std::move(*one));
  }

  /// Nothing when it is absent or has a mistake.
  std::optional<Compiled> compiled(const std::string& path, const Phrase& phrase,
                                   const std::set<std::string>& more = {}) {
    if (phrase.text.empty()) return std::nullopt;
    try {
      Compiled one{path, title_of(path), &phrase, Expression(phrase.text)};
      for (const std::string& name : one.expression.names()) {
        if (table_.index_of(name) < table_.columns.size() || more.count(name) > 0) continue;
        report_unknown(one, name);
      }
      return one;
    } catch (const ExpressionError& error) {
      is_sound_ = false;
      problems_.add(within(phrase, error.offset), path,
                    fmt::format("{}{} is not an expression: {}", title_of(path),
                                stepsim::quoted(phrase.text), error.message));
      return std::nullopt;
    }
  }

  void report_unknown(const Compiled& one, const std::string& name) {
    is_sound_ = false;
    if (table_.columns.empty()) return;  // a mistake of its own
    if (rules_.is_strict) {
      problems_.add(within(*one.phrase, one.expression.offset_of(name)), one.path,
                    fmt::format("{}no column {} in the table", one.title, stepsim::quoted(name)),
                    did_you_mean(name, table_.columns));
    } else if (missing_.insert(name).second) {
      problems_.add(
          table_.head, "",
          fmt::format("no column {}, which the suite reads in {}", stepsim::quoted(name), one.path),
          did_you_mean(name, table_.columns));
    }
  }

  /// Notes the columns where most cells are numbers.
  void note_numeric_columns() {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      const auto is_number = [&](const TableRow& row) {
        return std::holds_alternative<double>(datum_of(row.cells[c].text));
      };
      const auto numbers = std::ranges::count_if(table_.rows, is_number);
      is_numeric_.push_back(2 * static_cast<std::size_t>(numbers) > table_.rows.size());
    }
  }

  /// The errors of the row at hand, those of filters or of a strict table to the problems, each
  /// place once; whether there are any.
  bool report_errors() {
    for (const RowError& error : errors_) {
      const bool of_filter = filter_ && error.place.source == rules_.filter.place.source;
      if ((rules_.is_strict || of_filter) &&
          seen_.insert({error.place.line, error.place.column}).second)
        problems_.add(error.place, "rows", error.message, error.proposal);
    }
    return !errors_.empty();
  }

  /// Nothing, and an error, where it has none.
  std::optional<Datum> value(const Compiled& one, const TableRow& row,
                             const MeasuredRun* run = nullptr) {
    const auto of_name = [&](const std::string& name) -> Datum {
      const std::size_t column = table_.index_of(name);
      if (column < row.cells.size()) return datum_of(row.cells[column].text);
      if (name == "suite") return suite_.name;
      for (const auto& [group, text] : run->groups)
        if (group == name) return datum_of(text);
      return std::string();
    };
    try {
      const Datum found = one.expression(of_name);
      return one.phrase->values.empty() ? found : stands_for(one, text_of(found), row);
    } catch (const ExpressionError& error) {
      if (refuse_unreadable(one, row)) return std::nullopt;
      const std::string text = stepsim::quoted(one.phrase->text);
      if (one.path == kFilter)
        return refuse(
            within(*one.phrase, error.offset),
            fmt::format("{} has no value in row {}: {}", text, run->label, error.message));
      return refuse(row.place, fmt::format("{}{}: {}", one.title, text, error.message));
    }
  }

  std::nullopt_t refuse(const Place& place, const std::string& message,
                        const std::string& proposal = "") {
    errors_.push_back({place, message, proposal});
    return std::nullopt;
  }

  /// Whether the row has no number where the expression reads one.
  bool refuse_unreadable(const Compiled& one, const TableRow& row) {
    const TableCell* cell = unreadable(one, row);
    if (cell == nullptr) return false;
    const std::string column = stepsim::quoted(column_of(*cell, row));
    refuse(cell->place, cell->text.empty()
                            ? fmt::format("{}: column {} is blank", one.path, column)
                            : fmt::format("{}: {} in column {} is not a number", one.path,
                                          stepsim::quoted(cell->text), column));
    return true;
  }

  /// A cell that the expression reads, of a column of numbers, that is none.
  const TableCell* unreadable(const Compiled& one, const TableRow& row) const {
    for (const std::string& name : one.expression.names()) {
      const std::size_t column = table_.index_of(name);
      if (column < row.cells.size() && is_numeric_[column] &&
          !std::holds_alternative<double>(datum_of(row.cells[column].text)))
        return &row.cells[column];
    }
    return nullptr;
  }

  const std::string& column_of(const TableCell& cell, const TableRow& row) const {
    return table_.columns[static_cast<std::size_t>(&cell - row.cells.data())];
  }

  std::optional<Datum> stands_for(const Compiled& one, const std::string& text,
                                  const TableRow& row) {
    std::vector<std::string> known;
    for (const auto& [from, to] : one.phrase->values) {
      if (from == text) return to;
      known.push_back(from);
    }
    if (one.phrase->otherwise) return *one.phrase->otherwise;
    return refuse(row.place,
                  fmt::format("{}its values do not have {}", one.title, stepsim::quoted(text)),
                  did_you_mean(text, known));
  }

  /// `otherwise` where it has no value, which is an error.
  bool holds(const Compiled& one, const TableRow& row, const MeasuredRun* run, bool otherwise) {
    const auto found = value(one, row, run);
    if (!found) return otherwise;
    if (const bool* flag = std::get_if<bool>(&*found)) return *flag;
    refuse(within(*one.phrase, 0),
           fmt::format("{}{} is no condition: it is {} here", one.title,
                       stepsim::quoted(one.phrase->text), stepsim::quoted(text_of(*found))),
           "compare with ==, <, > or their like");
    return otherwise;
  }

  std::string default_label(const TableRow& row) const {
    return fmt::format("{}:{}", std::filesystem::path(row.place.source->name).filename().string(),
                       row.place.line);
  }

  void name(MeasuredRun& run, const TableRow& row) {
    if (label_) {
      if (const auto label = value(*label_, row)) run.label = on_one_line(text_of(*label));
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (const auto group = value(groups_[i], row))
        run.groups.emplace_back(suite_.groups[i].name, on_one_line(text_of(*group)));
    }
  }

  void fill(MeasuredRun& run, const TableRow& row) {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!holds(known_[i], row, nullptr, false)) continue;
      known_used_.insert(i);
      if (run.known.empty()) run.known = on_one_line(suite_.known[i].reason);
    }
    set(settings_, suite_.map, row, run.settings);
    set(unseen_, suite_.unseen, row, run.unseen);
    run.measured = time_of(row);
  }

  void set(const std::vector<Compiled>& phrases, const std::vector<NamedPhrase>& names,
           const TableRow& row, std::vector<std::pair<std::string, std::string>>& settings) {
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      const auto found = value(phrases[i], row);
      const std::string text = found ? text_of(*found) : "";
      if (found && text.empty()) refuse_blank(phrases[i], row);
      if (!text.empty()) settings.emplace_back(names[i].name, text);
    }
  }

  /// A blank cell by itself is no "leave it as it is", which an expression has to say.
  void refuse_blank(const Compiled& one, const TableRow& row) {
    // What stands for a cell's text may be blank, and says so.
    if (!one.phrase->values.empty()) return;
    const std::size_t column = table_.index_of(one.phrase->text);
    if (column < row.cells.size())
      refuse(place_of(one, row), fmt::format("{}column {} is blank", one.title,
                                             stepsim::quoted(table_.columns[column])));
  }

  /// Nothing, and an error, where the row has no time.
  std::optional<Seconds> time_of(const TableRow& row) {
    const auto found = value(*measured_, row);
    if (!found) return std::nullopt;
    const double* number = std::get_if<double>(&*found);
    const Seconds time{number == nullptr ? 0 : *number * unit_factor()};
    if (time >= kShortest && time <= kLongest) return time;
    if (!refuse_unreadable(*measured_, row))
      refuse(place_of(*measured_, row),
             fmt::format("measured: {} is no time of a step, which is between 1 ns and 30 years",
                         stepsim::quoted(text_of(*found))));
    return std::nullopt;
  }

  double unit_factor() const {
    for (const Unit& unit : dimension_of(Seconds{}).units)
      if (unit.name == suite_.measured.unit) return unit.factor;
    return 1;
  }

  /// The place of the cell where an expression is a column's name, else of the row.
  Place place_of(const Compiled& one, const TableRow& row) const {
    const std::size_t column = table_.index_of(one.phrase->text);
    return column < row.cells.size() ? row.cells[column].place : row.place;
  }

  const Suite& suite_;
  const Table& table_;
  const RowRules& rules_;
  Problems& problems_;
  bool is_sound_ = true;  ///< whether all expressions are
  std::optional<Compiled> where_, measured_, label_, filter_;
  std::vector<Compiled> settings_, unseen_, groups_, known_;
  std::set<std::string> filter_names_, missing_;
  std::set<std::size_t> known_used_;    ///< known gaps that some row meets
  bool is_any_row_left_ = false;        ///< whether `where` leaves a row
  std::set<std::pair<int, int>> seen_;  ///< places in the table that were reported
  std::vector<bool> is_numeric_;
  std::vector<RowError> errors_;  ///< errors of the row at hand
};

}  // namespace

std::vector<MeasuredRun> runs_of(const Suite& suite, const Table& table, const RowRules& rules,
                                 Problems& problems) {
  Runs runs(suite, table, rules, problems);
  const bool has_times = !problems.spoiled("measured") && !suite.measured.value.text.empty();
  return has_times ? runs.all() : std::vector<MeasuredRun>{};
}

}  // namespace stepsim
