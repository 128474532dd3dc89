// Writes what a sweep puts into its file, and answers what reports ask about it.
#include "sim/store/sweep_store.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/store/axes_text.hpp"
#include "sim/store/damaged_file.hpp"
#include "sim/store/sweep_tables.hpp"
#include "sim/sweep/point_columns.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenCommits{500};

std::string insert_text() {
  std::string marks = "?, ?, ?, ?, ?, ?, ?";
  for (std::size_t i = 0; i < number_columns().size(); ++i) marks += ", ?";
  return fmt::format("INSERT OR REPLACE INTO points VALUES ({})", marks);
}

}  // namespace

SweepStore::SweepStore(const std::string& path) {
  if (is_read_only(path)) throw IoError(fmt::format("cannot write '{}': it is read-only", path));
  note_read(path);
  try {
    file_ = std::make_unique<File>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    file_->check_schema();
    file_->make_tables();
  } catch (const SQLite::Exception& error) {
    throw_for(error, path, "write");
  }
}

SweepStore SweepStore::reader(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw IoError(fmt::format("cannot read '{}': No such file or directory", path));
  note_read(path);
  try {
    // A reader opens the file for writing: a program that was killed while it wrote has left what
    // only a writer can undo. SQLite itself opens a file that it may not write for reading alone.
    auto file = std::make_unique<File>(path, SQLite::OPEN_READWRITE);
    file->check_schema();
    if (!file->database.tableExists("sweeps"))
      throw UserError(fmt::format("'{}' is empty: no sweep was begun in it", path));
    return SweepStore(std::move(file));
  } catch (const SQLite::Exception& error) {
    throw_for(error, path, "read");
  }
}

bool SweepStore::is_read_only(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  // The folder counts, too, because SQLite writes its journal beside the file.
  const auto cannot = [](const std::string& name) {
    return faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0;
  };
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return false;
  // A file that nobody may write is kept from root, too, who may.
  const bool is_kept = (file.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
  return is_kept || cannot(path) || cannot(folder.string());
}

SweepStore::SweepStore(std::unique_ptr<File> file) : file_(std::move(file)) {}
SweepStore::SweepStore(SweepStore&& other) noexcept = default;

SweepStore::~SweepStore() {
  try {
    if (file_) file_->commit();
    // the `flush` before has reported it, or nothing can be done
  } catch (const SQLite::Exception&) {
  }
}

std::vector<SweepRecord> SweepStore::sweeps() const {
  return file_->guarded([&] {
    std::vector<SweepRecord> all;
    SQLite::Statement rows(file_->database,
                           "SELECT identity, inputs, name, file, axes, points, objective FROM "
                           "sweeps ORDER BY sweep");
    while (rows.executeStep())
      all.push_back({.identity = rows.getColumn(0),
                     .inputs = rows.getColumn(1),
                     .name = rows.getColumn(2),
                     .file = rows.getColumn(3),
                     .axes = file_->axes_in(rows.getColumn(4)),
                     .points = rows.getColumn(5).getInt64(),
                     .objective = rows.getColumn(6)});
    return all;
  });
}

void SweepStore::choose(const SweepRecord& record, bool anew) {
  file_->guarded([&] {
    SQLite::Database& database = file_->database;
    file_->begin();
    SQLite::Statement keep(
        database,
        "INSERT INTO sweeps (identity, inputs, name, file, axes, points, objective) VALUES (?, ?, "
        "?, ?, ?, ?, ?) ON CONFLICT (identity) DO UPDATE SET inputs = excluded.inputs, objective = "
        "excluded.objective, file = excluded.file");
    int at = 0;
    for (const std::string& text :
         {record.identity, record.inputs, record.name, record.file, axes_text(record.axes)})
      keep.bind(++at, text);
    keep.bind(++at, record.points);
    keep.bind(++at, record.objective);
    keep.exec();
    file_->find_sweep(record);
    if (anew) database.exec(fmt::format("DELETE FROM points WHERE sweep = {}", file_->sweep));
    file_->check_points();
    file_->make_view();
    file_->commit();
    file_->prepare();
    file_->insert.emplace(database, insert_text());
  });
}

void SweepStore::look_at(const SweepRecord& record) {
  file_->guarded([&] {
    file_->find_sweep(record);
    file_->check_points();
    file_->prepare();
  });
}

std::int64_t SweepStore::number() const { return file_->sweep; }

bool SweepStore::has(std::int64_t point) const { return file_->state_of(point).has_value(); }

bool SweepStore::has_settled(std::int64_t point) const {
  const auto state = file_->state_of(point);
  return state && is_settled(*state);
}

std::int64_t SweepStore::count_alike() const {
  return file_->guarded([&] {
    SQLite::Statement row(
        file_->database,
        "SELECT count(scenario) - count(DISTINCT scenario) FROM points WHERE sweep = ?");
    row.bind(1, file_->sweep);
    row.executeStep();
    return row.getColumn(0).getInt64();
  });
}

std::int64_t SweepStore::count() const {
  std::int64_t all = 0;
  for (const std::int64_t count : count_by_state()) all += count;
  return all;
}

std::vector<std::int64_t> SweepStore::count_by_state() const {
  return file_->guarded([&] {
    std::vector<std::int64_t> counts(kPointStates);
    SQLite::Statement rows(file_->database,
                           "SELECT state, count(*) FROM points WHERE sweep = ? GROUP BY state");
    rows.bind(1, file_->sweep);
    while (rows.executeStep()) {
      const auto state = point_state_of(rows.getColumn(0).getString());
      if (state) counts[static_cast<std::size_t>(*state)] = rows.getColumn(1).getInt64();
    }
    return counts;
  });
}

std::vector<std::string> SweepStore::builds() const {
  return file_->guarded([&] {
    std::vector<std::string> all;
    SQLite::Statement rows(file_->database,
                           "SELECT DISTINCT build FROM points WHERE sweep = ? ORDER BY build");
    rows.bind(1, file_->sweep);
    while (rows.executeStep()) all.push_back(rows.getColumn(0).getString());
    return all;
  });
}

SweepStore::Work SweepStore::work() const {
  return file_->guarded([&] {
    SQLite::Statement row(file_->database,
                          "SELECT min(samples_per_s * step_time_s), max(samples_per_s * "
                          "step_time_s), min(gpus), max(gpus) FROM points WHERE sweep = ? AND "
                          "state = 'ok'");
    row.bind(1, file_->sweep);
    row.executeStep();
    return Work{row.getColumn(0), row.getColumn(1), row.getColumn(2), row.getColumn(3)};
  });
}

std::vector<StateExample> SweepStore::examples() const {
  const auto counts = count_by_state();
  return file_->guarded([&] {
    std::vector<StateExample> examples;
    for (std::size_t i = 1; i < kPointStates; ++i) {
      if (counts[i] == 0) continue;
      const auto state = static_cast<PointState>(i);
      StateExample& example = examples.emplace_back(StateExample{state, counts[i], {}});
      file_->each(fmt::format("AND state = '{}' ORDER BY point LIMIT 1", name_of(state)),
                  [&](const SweepPoint& point) { example.first = point; });
    }
    return examples;
  });
}

void SweepStore::add(const SweepPoint& point) {
  file_->guarded([&] {
    file_->begin();
    SQLite::Statement& insert = *file_->insert;
    insert.reset();
    insert.clearBindings();
    insert.bind(1, file_->sweep);
    insert.bind(2, point.point);
    insert.bind(3, name_of(point.outcome.state));
    insert.bind(4, point.outcome.reason);
    insert.bind(5, settings_text(file_->axes, point.point));
    if (!point.scenario.empty()) insert.bind(6, point.scenario);
    insert.bind(7, point.build);
    if (point.outcome.numbers) {
      int at = 7;
      for (const double value : number_values(*point.outcome.numbers)) insert.bind(++at, value);
    }
    insert.exec();
  });
  save();
}

void SweepStore::save() {
  if (Clock::now() - file_->last_commit < kBetweenCommits) return;
  file_->guarded([&] {
    file_->database.setBusyTimeout(0);
    try {
      file_->commit();
    } catch (const SQLite::Exception& error) {
      if (error.getErrorCode() != SQLITE_BUSY) throw;
      file_->last_commit = Clock::now();  // the points that wait stay in the transaction
    }
    file_->database.setBusyTimeout(File::kBusyMs);
  });
}

void SweepStore::flush() {
  file_->guarded([&] {
    file_->holds = false;
    file_->commit();
  });
}

void SweepStore::hold() {
  file_->guarded([&] {
    file_->begin();
    file_->holds = true;
  });
}

std::vector<SweepPoint> SweepStore::best(const Objective& objective, std::int64_t most) const {
  return file_->guarded([&] {
    std::vector<SweepPoint> points;
    file_->each(fmt::format("AND state = 'ok' AND {0} > 0 ORDER BY {0} {1}, point LIMIT {2}",
                            objective.column, objective.is_less_better ? "ASC" : "DESC", most),
                [&](const SweepPoint& point) { points.push_back(point); });
    return points;
  });
}

void SweepStore::each(const std::function<void(const SweepPoint&)>& visit) const {
  file_->guarded([&] { file_->each("ORDER BY point", visit); });
}

SweepPoint SweepStore::point(std::int64_t number) const {
  std::vector<SweepPoint> found = some({number});
  if (found.empty())
    throw damaged_file(file_->path, fmt::format("it lists point {}, and does not have it", number));
  return std::move(found.front());
}

std::vector<SweepPoint> SweepStore::some(const std::vector<std::int64_t>& points) const {
  return file_->guarded([&] {
    std::vector<SweepPoint> found;
    file_->each(fmt::format("AND point IN ({}) ORDER BY point", fmt::join(points, ", ")),
                [&](const SweepPoint& point) { found.push_back(point); });
    return found;
  });
}

}  // namespace stepsim
