// The SQL tables of a file of sweeps.
#include "sim/store/sweep_tables.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/source.hpp"
#include "sim/store/axes_text.hpp"
#include "sim/sweep/point_columns.hpp"

namespace stepsim {
namespace {

constexpr const char* kSchema = "stepsim.sweep/3";
/// Schemas of earlier versions, which do not say which build simulated a point.
constexpr std::array<std::string_view, 2> kOldSchemas{"stepsim.sweep/1", "stepsim.sweep/2"};

/// An SQL name that may have any characters.
std::string name_in_sql(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

std::string text_in_sql(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result.append(c == '\'' ? 2 : 1, c);
  return result + "'";
}

std::vector<std::string> states_in_sql() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPointStates; ++i)
    names.push_back(text_in_sql(name_of(static_cast<PointState>(i))));
  return names;
}

/// index of the first number in the columns that `File::select` selects
constexpr int kFirstNumber = 5;

/// The numbers of a row that `File::select` selects; NULL is 0.
PointNumbers numbers_at(const SQLite::Statement& row) {
  std::vector<double> values;
  for (int i = kFirstNumber; i < row.getColumnCount(); ++i)
    values.push_back(row.getColumn(i).getDouble());
  return numbers_of_columns(values);
}

}  // namespace

void SweepStore::File::make_tables() {
  std::string columns =
      "sweep INTEGER, point INTEGER, state TEXT, reason TEXT, settings TEXT, scenario TEXT, "
      "build TEXT";
  for (const std::string& column : number_columns()) columns += ", " + column + " REAL";
  database.exec("BEGIN IMMEDIATE");
  database.exec("CREATE TABLE IF NOT EXISTS format (schema TEXT)");
  database.exec(
      "CREATE TABLE IF NOT EXISTS sweeps (sweep INTEGER PRIMARY KEY, identity TEXT UNIQUE, "
      "inputs TEXT, name TEXT, file TEXT, axes TEXT, points INTEGER, objective TEXT)");
  database.exec("CREATE TABLE IF NOT EXISTS points (" + columns +
                ", PRIMARY KEY (sweep, point)) WITHOUT ROWID");
  database.exec("CREATE INDEX IF NOT EXISTS scenarios ON points (sweep, scenario)");
  if (database.execAndGet("SELECT count(*) FROM format").getInt() == 0)
    database.exec(fmt::format("INSERT INTO format VALUES ('{}')", kSchema));
  database.exec("COMMIT");
}

void SweepStore::File::check_schema() {
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (empty) return;
  const bool ours = database.tableExists("format");
  const std::string schema =
      ours ? database.execAndGet("SELECT max(schema) FROM format").getString() : "";
  if (std::ranges::find(kOldSchemas, schema) != kOldSchemas.end())
    throw UserError(fmt::format(
        "'{}' was written by an older stepsim: remove it, or choose another file with --db", path));
  if (schema != kSchema && schema.starts_with("stepsim.sweep/"))
    throw UserError(fmt::format(
        "'{}' was written by another stepsim ({}): choose another file with --db", path, schema));
  if (schema != kSchema)
    throw UserError(fmt::format("'{}' is a database, but not of sweeps ({})", path,
                                schema.empty() ? "no schema" : schema));
}

void SweepStore::File::find_sweep(const SweepRecord& record) {
  SQLite::Statement found(database, "SELECT sweep FROM sweeps WHERE identity = ?");
  found.bind(1, record.identity);
  if (!found.executeStep())
    throw damaged_file(path, fmt::format("it has no sweep {}, and lists it", record.identity));
  sweep = found.getColumn(0).getInt64();
  axes = record.axes;
}

void SweepStore::File::make_view() {
  std::string columns;
  for (const SweepAxis& axis : axes)
    for (const std::string& key : axis.paths)
      columns += fmt::format(", json_extract(settings, {}) AS {}",
                             text_in_sql("$." + name_in_sql(key)), name_in_sql(key));
  database.exec(
      fmt::format("CREATE VIEW IF NOT EXISTS sweep_{0} AS SELECT point{1}, state, reason, build, "
                  "{2} FROM points "
                  "WHERE sweep = {0}",
                  sweep, columns, fmt::join(number_columns(), ", ")));
}

std::vector<SweepAxis> SweepStore::File::axes_in(const std::string& text) const {
  auto found = axes_of(text);
  if (!found) throw damaged_file(path, "the axes of a sweep cannot be read: " + quoted(text));
  return std::move(*found);
}

SweepPoint SweepStore::File::point_at(const SQLite::Statement& row) const {
  SweepPoint point{.point = row.getColumn(0).getInt64()};
  Outcome& outcome = point.outcome;
  const auto state = point_state_of(row.getColumn(1).getString());
  if (!state) throw damaged_file(path, "a point is neither ok nor anything else");
  outcome.state = *state;
  outcome.reason = row.getColumn(2).getString();
  point.scenario = row.getColumn(3).getString();
  point.build = row.getColumn(4).getString();
  if (!row.getColumn(kFirstNumber).isNull()) outcome.numbers = numbers_at(row);
  return point;
}

void SweepStore::File::check_points() {
  if (checked == sweep) return;
  const auto broken = [&](const std::string& where, const std::string& what) {
    SQLite::Statement row(
        database,
        fmt::format("SELECT point FROM points WHERE sweep = {} AND ({}) LIMIT 1", sweep, where));
    if (!row.executeStep()) return;
    throw UserError(fmt::format(
        "'{}' is damaged: point {} of sweep_{} {} (`stepsim sweep` with --restart simulates the "
        "sweep again, with --db into another file)",
        path, row.getColumn(0).getString(), sweep, what));
  };
  double grid = 1;
  for (const SweepAxis& axis : axes) grid *= static_cast<double>(axis.values.size());
  broken(fmt::format("typeof(point) <> 'integer' OR point < 0 OR point >= {:.0f}", grid),
         fmt::format("is beyond its grid of {:.0f} points", grid));
  broken(fmt::format("state IS NULL OR state NOT IN ({})", fmt::join(states_in_sql(), ", ")),
         "is neither ok nor anything else");
  std::string all_real;
  for (const std::string& column : number_columns())
    all_real += fmt::format("typeof({}) = 'real' AND ", column);
  broken(fmt::format("state IN ('{}', '{}') AND NOT ({}step_time_s > 0)", name_of(PointState::ok),
                     name_of(PointState::too_large), all_real),
         "is simulated, but has no numbers that can be");
  checked = sweep;
}

void SweepStore::File::prepare() {
  find.emplace(database, "SELECT state FROM points WHERE sweep = ? AND point = ?");
}

std::optional<PointState> SweepStore::File::state_of(std::int64_t point) {
  return guarded([&] {
    find->reset();
    find->bind(1, sweep);
    find->bind(2, point);
    std::optional<PointState> state;
    if (find->executeStep()) state = point_state_of(find->getColumn(0).getString());
    find->reset();
    return state;
  });
}

std::string SweepStore::File::select(const std::string& rest) const {
  return fmt::format(
      "SELECT point, state, reason, scenario, build, {} FROM points WHERE sweep = {} {}",
      fmt::join(number_columns(), ", "), sweep, rest);
}

void SweepStore::File::each(const std::string& rest,
                            const std::function<void(const SweepPoint&)>& visit) const {
  SQLite::Statement rows(database, select(rest));
  while (rows.executeStep()) visit(point_at(rows));
}

}  // namespace stepsim
