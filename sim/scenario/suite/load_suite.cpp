// Suites: text to tree, tree to struct, struct and table to runs.
#include "sim/scenario/suite/load_suite.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/shell_word.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/trim.hpp"
#include "sim/scenario/describe/describe_suite.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/map_reader.hpp"
#include "sim/scenario/read/override.hpp"
#include "sim/scenario/scenario_of_tree.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "sim/scenario/suite/suite_runs.hpp"

namespace stepsim {
namespace {

/// `table` becomes the place of that key.
Suite read_suite(const std::shared_ptr<const Source>& source, Place& table, Problems& problems) {
  const auto tree = parse_tree(source, "", problems);
  problems.throw_if_any();
  const Place start{source, 1, 1};
  Suite suite;
  suite.name = std::filesystem::path(source->name).stem().string();
  if (!tree->is_map()) {
    problems.add(start, "", fmt::format("a suite is a map of keys, not {}", title_of(tree->kind)));
    problems.throw_if_any();
  }
  if (tree->find("model") != nullptr && tree->find("scenario") == nullptr) {
    problems.add(start, "", "this is a scenario, not a suite",
                 fmt::format("`stepsim run {}` simulates it", shell_word(source->name)));
    problems.throw_if_any();
  }
  const Library none;
  Reading reading{none, problems, {}};
  MapReader io(reading, *tree, "", "the suite", start);
  describe(io, suite);
  io.finish();
  problems = reading.problems;
  if (const Entry* entry = tree->find("table")) table = entry->value.place;
  return suite;
}

/// A base that is named is read from its file.
void follow_base(Suite& suite, Problems& problems) {
  Tree& base = suite.scenario;
  if (base.is_map() || problems.spoiled("scenario")) return;
  if (base.kind != Tree::Kind::scalar)
    return problems.add(
        base.place, "scenario",
        fmt::format("scenario: expected a map or the path of a file, not {}", title_of(base.kind)));
  const Place place = base.place;
  try {
    const auto source = read_source(joined(place.source->folder, base.scalar));
    const auto tree = parse_tree(source, "scenario", problems);
    if (!tree) return;
    if (!tree->is_map()) problems.add({source, 1, 1}, "scenario", "a scenario is a map of keys");
    base = *tree;
  } catch (const IoError& error) {
    problems.add(place, "scenario", fmt::format("scenario: {}", error.what()));
  }
}

/// Letters behind a space and a name or a number, where an expression would have an operator.
bool is_meant_as_unit(const std::string& text, std::size_t space) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (space == std::string::npos || space == 0 || space + 1 == text.size()) return false;
  const auto before = static_cast<unsigned char>(text[space - 1]);
  const bool ends_value = std::isalnum(before) != 0 || before == '_' || before == ')';
  const auto word = text.begin() + static_cast<std::ptrdiff_t>(space) + 1;
  return ends_value && std::all_of(word, text.end(), is_letter);
}

/// "iter_time_ms ms" is the value and its unit.
void split_unit(MeasuredTime& measured, Problems& problems) {
  if (problems.spoiled("measured")) return;
  std::vector<std::string> units;
  for (const Unit& unit : dimension_of(Seconds{}).units) units.emplace_back(unit.name);
  const auto is_unit = [&](const std::string& word) {
    return std::ranges::find(units, word) != units.end();
  };
  std::string& text = measured.value.text;
  if (measured.unit.empty()) {
    const std::size_t space = text.rfind(' ');
    const std::string word = space == std::string::npos ? "" : text.substr(space + 1);
    if (!is_unit(word) && is_meant_as_unit(text, space))
      return problems.add(measured.value.place, "measured",
                          fmt::format("measured: {} is not a unit of time", stepsim::quoted(word)),
                          "write " + one_of({"s", "ms", "us"}));
    if (!is_unit(word))
      return problems.add(measured.value.place, "measured",
                          fmt::format("measured: {} has no unit of time", stepsim::quoted(text)),
                          fmt::format("write \"{} s\"", text));
    measured.unit = word;
    text.resize(space);
  } else if (!is_unit(measured.unit)) {
    problems.add(
        measured.value.place, "measured.unit",
        fmt::format("measured.unit: {} is not a unit of time", stepsim::quoted(measured.unit)),
        "write " + one_of({"s", "ms", "us"}));
  }
}

void check_words(const Suite& suite, const Place& start, Problems& problems) {
  if (trimmed(suite.name).empty() || suite.name.find('\n') != std::string::npos)
    problems.add(start, "suite", "suite: its name is one line, and not empty",
                 "leave it out: it is the file's then");
  if (suite.publisher.find('\n') != std::string::npos)
    problems.add(start, "publisher", "publisher: it is one line");
  for (const NamedPhrase& group : suite.groups) {
    if (trimmed(group.name).empty() || group.name.find_first_of("\n\r") != std::string::npos)
      problems.add(group.place, "groups",
                   fmt::format("groups: the name of a group is one line, and not empty: {}",
                               stepsim::quoted(group.name)));
  }
  for (const KnownGap& gap : suite.known) {
    if (trimmed(gap.reason).empty())
      problems.add(gap.where.place, "known", "known: its reason is empty",
                   "say why these rows are not expected to be met");
  }
}

/// A list as a whole can be mapped, to a text in brackets; what is in it has no name.
std::vector<std::string> paths_to_map() {
  std::vector<std::string> paths;
  for (const std::string& path : scenario_paths()) {
    const std::size_t entries = path.find("[]");
    if (entries == std::string::npos || entries + 2 == path.size())
      paths.push_back(path.substr(0, entries));
  }
  return paths;
}

void check_paths(const std::string& key_of_map, const std::vector<NamedPhrase>& settings,
                 Problems& problems) {
  const std::vector<std::string> paths = paths_to_map();
  for (const NamedPhrase& setting : settings) {
    if (std::ranges::find(paths, setting.name) != paths.end()) continue;
    const std::string list = setting.name.substr(0, setting.name.find('['));
    if (list != setting.name && std::ranges::find(paths, list) != paths.end()) {
      problems.add(setting.place, key_of_map + "." + setting.name,
                   fmt::format("{} is in a list, whose entries cannot be mapped",
                               stepsim::quoted(setting.name)),
                   fmt::format("map '{}', to a text as in \"[...]\"", list));
      continue;
    }
    const std::string key = setting.name.substr(setting.name.rfind('.') + 1);
    const std::string found = path_of_key(key);
    const std::string elsewhere = found.find('[') == std::string::npos ? found : "";
    problems.add(setting.place, key_of_map + "." + setting.name,
                 fmt::format("no key {} in a scenario", stepsim::quoted(setting.name)),
                 elsewhere.empty() ? closest(setting.name, paths)
                                   : fmt::format("did you mean '{}'?", elsewhere));
  }
}

/// Whether all values of a row are some. Keys that it has twice are reported, too.
bool is_row_of_values(const Tree& row, Problems& problems) {
  bool is_sound = true;
  for (const Entry& entry : row.entries) {
    const Entry* first = row.find(entry.key);
    if (first != &entry)
      problems.add(entry.key_place, "rows",
                   fmt::format("duplicate key {} in a row, first given on line {}",
                               stepsim::quoted(entry.key), first->key_place.line));
    const Tree& value = entry.value;
    if (value.kind != Tree::Kind::list && !value.is_map()) continue;
    is_sound = false;
    problems.add(value.place, "rows",
                 fmt::format("rows: expected a value of {}, not {}", stepsim::quoted(entry.key),
                             title_of(value.kind)),
                 value.is_map() ? "" : "write quotes around it: \"[...]\" is one value");
  }
  return is_sound;
}

/// `rows` as a table whose columns are all keys of all rows; what a row lacks is blank.
Table table_of(const Tree& rows, Problems& problems) {
  Table table{.head = rows.place};
  for (const Tree& row : rows.items) {
    for (const Entry& entry : row.entries) {
      if (table.index_of(entry.key) == table.columns.size()) table.columns.push_back(entry.key);
    }
  }
  for (const Tree& row : rows.items) {
    if (!row.is_map()) {
      problems.add(row.place, "rows",
                   fmt::format("rows: expected a map, not {}", title_of(row.kind)));
      continue;
    }
    if (!is_row_of_values(row, problems)) continue;
    TableRow cells{row.place, {}};
    for (const std::string& column : table.columns) {
      const Entry* entry = row.find(column);
      cells.cells.push_back(entry == nullptr ? TableCell{"", row.place}
                                             : TableCell{entry->value.scalar, entry->value.place});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// `start` is that of the suite, `named` where it names its table.
Table table_of(const Suite& suite, const Place& start, const Place& named, const std::string& other,
               Problems& problems) {
  if (!other.empty()) return read_table(read_source(other, kLargestMeasurements), problems);
  const bool has_rows = suite.rows.kind == Tree::Kind::list;
  if (has_rows == !suite.table.empty()) {
    problems.add(start, "table",
                 has_rows ? "a suite has a table or rows, not both" : "a suite needs measured rows",
                 "add \"table: <file>\" or \"rows: [...]\"");
    return {};
  }
  if (has_rows) return table_of(suite.rows, problems);
  const std::string file = joined(start.source->folder, suite.table);
  try {
    return read_table(read_source(file, kLargestMeasurements), problems);
  } catch (const IoError& error) {
    problems.add(named, "table", fmt::format("table: {}", error.what()));
    problems.throw_if_any();
    return {};
  }
}

/// A value of a row; a list in brackets is one, and so is a map in braces.
Tree tree_of(const std::string& value, const std::string& path, const Place& place,
             Problems& problems) {
  Tree leaf{.kind = Tree::Kind::scalar, .scalar = value, .place = place};
  if (!value.starts_with('[') && !value.starts_with('{')) return leaf;
  const auto source = std::make_shared<Source>(Source{path + " " + value, "", value, true});
  return parse_tree(source, path, problems).value_or(leaf);
}

/// A base that no row can be predicted with is a mistake of the suite.
void check_some_row_fits(const LoadedSuite& loaded, const KnownNames& known) {
  std::optional<UserError> first;
  for (const MeasuredRun& run : loaded.runs) {
    if (!run.refusal.empty()) continue;
    try {
      scenario_of(loaded.suite, run, known);
      scenario_of(loaded.suite, run, known, Settings::unseen);
      return;
    } catch (const UserError& error) {
      if (!first) first = error;
    }
  }
  if (first) throw UserError(*first);
}

}  // namespace

LoadedSuite load_suite(const SuiteRequest& request, const KnownNames& known) {
  const auto source = read_source(request.path);
  Problems problems;
  problems.put_first(source->name);
  Place table_at;
  LoadedSuite loaded{.suite = read_suite(source, table_at, problems), .runs = {}, .table = {}};
  follow_base(loaded.suite, problems);
  check_words(loaded.suite, {source, 1, 1}, problems);
  split_unit(loaded.suite.measured, problems);
  check_paths("map", loaded.suite.map, problems);
  check_paths("unseen", loaded.suite.unseen, problems);
  const Table table = table_of(loaded.suite, {source, 1, 1}, table_at, request.table, problems);
  RowRules rules{.is_strict = request.table.empty()};
  if (!request.filter.empty()) {
    loaded.filter_names = filter_names(loaded.suite, table);
    loaded.filter_lacks = names_lacking(request.filter, loaded.filter_names);
    if (loaded.filter_lacks.empty()) rules.filter = filter_phrase(request.filter);
  }
  loaded.table = table.head;
  loaded.runs = runs_of(loaded.suite, table, rules, problems);
  problems.throw_if_any();
  if (!loaded.filter_lacks.empty()) loaded.runs.clear();
  loaded.suite.library = library_for(loaded.suite.scenario.place.source->name);
  if (rules.is_strict) check_some_row_fits(loaded, known);
  return loaded;
}

Scenario scenario_of(const Suite& suite, const MeasuredRun& run, const KnownNames& known,
                     Settings settings) {
  Reading reading{suite.library, {}, {}};
  Tree tree = suite.scenario;
  const auto set = [&](const auto& values) {
    for (const auto& [path, value] : values)
      set_value(path, tree_of(value, path, run.place, reading.problems), run.place, tree,
                reading.problems);
  };
  set(run.settings);
  if (settings == Settings::unseen) set(run.unseen);
  return scenario_of_tree(tree, suite.scenario.place, suite.name, known, reading);
}

}  // namespace stepsim
