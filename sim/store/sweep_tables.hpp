// An open file of sweeps, for the store alone: its tables, through SQLiteCpp, and whether what they
// hold can be true.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "sim/store/damaged_file.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/store/writer_lock.hpp"

namespace stepsim {

struct SweepStore::File {
  using Clock = std::chrono::steady_clock;
  static constexpr int kBusyMs = 10'000;  ///< how long to wait for another program that writes

  std::string path;
  std::optional<WriterLock> lock;  ///< only where the file is opened to write
  SQLite::Database database;
  std::int64_t sweep = 0;    ///< the chosen sweep
  std::int64_t checked = 0;  ///< the sweep whose points are known to be sound
  std::vector<SweepAxis> axes;
  std::optional<SQLite::Transaction> open;
  bool holds = false;  ///< true: nothing is committed before `flush`
  std::optional<SQLite::Statement> insert, find;
  Clock::time_point last_commit = Clock::now();

  File(const std::string& file, int how)
      : path(file), lock(lock_of(file, how)), database(file, how, kBusyMs) {}

  static std::optional<WriterLock> lock_of(const std::string& file, int how) {
    return (how & SQLite::OPEN_CREATE) != 0 ? std::optional<WriterLock>(std::in_place, file)
                                            : std::nullopt;
  }

  /// Runs `work`, which calls SQLite. What SQLite cannot do is thrown as an error that names the
  /// file (sim/store/damaged_file.hpp).
  template <class Work>
  auto guarded(Work&& work) const {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      throw_for(error, path, "use");
    }
  }

  void make_tables();

  /// Throws UserError where the existing file is no file of sweeps.
  void check_schema();

  void begin() {
    if (!open) open.emplace(database);
  }

  void commit() {
    if (holds) return;
    if (open) open->commit();
    open.reset();
    last_commit = Clock::now();
  }

  /// Chooses the sweep with that identity. REQUIRES: the file has it.
  void find_sweep(const SweepRecord& record);

  /// Makes the view of the chosen sweep, which shows users of SQL its varied keys as columns.
  void make_view();

  SweepPoint point_at(const SQLite::Statement& row) const;

  /// The axes of a sweep. Throws UserError where the text has none.
  std::vector<SweepAxis> axes_in(const std::string& text) const;

  /// Throws UserError where a point of the chosen sweep cannot be. A program that wrote such a point,
  /// or a hand that changed it, may have changed other points, too, so that none is believed.
  void check_points();

  /// Prepares the statements that run for every point.
  void prepare();

  /// The state of a point; nothing where it is not done.
  std::optional<PointState> state_of(std::int64_t point);

  std::string select(const std::string& rest) const;

  void each(const std::string& rest, const std::function<void(const SweepPoint&)>& visit) const;
};

}  // namespace stepsim
