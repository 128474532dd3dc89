// The results of sweeps in a file of SQLite: kept as they come, found again after a crash.
//
// One file holds several sweeps. `sweeps` has one row for each; `points` one for each point that is
// done; and the view `sweep_N` shows those of sweep N with a column for each varied key. The only
// header whose .cpp sees SQLite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/scenario/axis.hpp"
#include "sim/sweep/objective.hpp"
#include "sim/sweep/outcome.hpp"

namespace stepsim {

/// What a file says of a sweep.
struct SweepRecord {
  std::string identity;  ///< of scenario, axes and chosen points
  std::string inputs;    ///< fingerprint of the profiles that its scenarios read
  std::string name, file;
  std::vector<SweepAxis> axes;  ///< without places
  std::int64_t points = 0;      ///< that are wanted
  std::string objective;
  std::string version;  ///< of the program
};

class SweepStore {
 public:
  /// Opens the file, and makes it where there is none. Throws IoError when it cannot be used,
  /// UserError when it is no file of sweeps.
  explicit SweepStore(const std::string& path);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  /// The sweeps of the file, in the order in which they were begun.
  std::vector<SweepRecord> sweeps() const;

  /// Chooses the sweep of that identity, and adds it where it is missing; `anew` forgets its
  /// points. All below is about the chosen one.
  void choose(const SweepRecord& record, bool anew);
  /// The number N of the view `sweep_N`.
  std::int64_t number() const;

  /// Whether that point is done.
  bool has(std::int64_t point) const;
  std::int64_t count() const;
  std::vector<std::int64_t> count_by_state() const;

  /// One for each state but ok that some point has.
  std::vector<StateExample> examples() const;

  /// Keeps the outcome; it is safe in the file after `flush`, or half a second later.
  void add(const SweepPoint& point);
  void flush();

  /// The best `most` of those that are ok; equal ones in the order of the grid.
  std::vector<SweepPoint> best(const Objective& objective, std::int64_t most) const;
  /// Calls with every point that is done, in the order of the grid.
  void each(const std::function<void(const SweepPoint&)>& visit) const;
  /// Those of these points that are done, in the order of the grid.
  std::vector<SweepPoint> some(const std::vector<std::int64_t>& points) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace stepsim
