// The results of sweeps in a file of SQLite: kept as they come, found again after a crash.
//
// One file holds several sweeps. `sweeps` has one row for each; `points` one for each point that is
// done; and the view `sweep_N` shows those of sweep N with a column for each varied key. The only
// header whose .cpp sees SQLite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/sweep/axis.hpp"
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
};

class SweepStore {
 public:
  /// Opens the file, and makes it where there is none. Throws IoError when it cannot be used,
  /// UserError when it is no file of sweeps.
  explicit SweepStore(const std::string& path);
  /// One that is there already, to be read: nothing in it changes. Throws IoError where there is
  /// none, UserError when it is no file of sweeps.
  static SweepStore reader(const std::string& path);
  ~SweepStore();
  SweepStore(SweepStore&& other) noexcept;
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  /// Whether the file or its folder cannot be written. Then it is only read, and may be.
  static bool is_read_only(const std::string& path);

  /// The sweeps of the file, in the order in which they were begun.
  std::vector<SweepRecord> sweeps() const;

  /// Chooses the sweep of that identity, and adds it where it is missing; `anew` forgets its
  /// points. All below is about the chosen one. Throws IoError where it has a point that cannot be:
  /// beyond its grid, or ok without numbers.
  void choose(const SweepRecord& record, bool anew);
  /// The same of a file that is read, which has it.
  void look_at(const SweepRecord& record);
  /// The number N of the view `sweep_N`.
  std::int64_t number() const;

  /// Whether that point is done.
  bool has(std::int64_t point) const;
  /// Whether it is done for good: its outcome hangs on neither the machine nor its limits.
  bool has_settled(std::int64_t point) const;
  /// A point with that scenario that is done for good; nothing: there is none.
  std::optional<SweepPoint> settled_like(const std::string& scenario) const;
  std::int64_t count() const;
  /// Points whose scenario another one before them has, too.
  std::int64_t count_alike() const;
  std::vector<std::int64_t> count_by_state() const;
  /// All that simulated its points, sorted.
  std::vector<std::string> builds() const;

  /// Of the points that are ok, the least and the most samples of a step, and GPUs.
  struct Work {
    double least_samples = 0, most_samples = 0;
    double least_gpus = 0, most_gpus = 0;
  };
  Work work() const;

  /// One for each state but ok that some point has.
  std::vector<StateExample> examples() const;

  /// Keeps the outcome; it is safe in the file after `flush`.
  void add(const SweepPoint& point);
  /// Makes safe what has waited for half a second, unless somebody reads the file meanwhile: then
  /// the next call does. Called now and then, it costs nothing.
  void save();
  void flush();
  /// From here on nothing is safe before `flush`, and nothing stays without it: all, or nothing.
  void hold();

  /// The best `most` of those that are ok; equal ones in the order of the grid.
  std::vector<SweepPoint> best(const Objective& objective, std::int64_t most) const;
  /// Calls with every point that is done, in the order of the grid.
  void each(const std::function<void(const SweepPoint&)>& visit) const;
  /// Those of these points that are done, in the order of the grid.
  std::vector<SweepPoint> some(const std::vector<std::int64_t>& points) const;

 private:
  struct File;
  explicit SweepStore(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace stepsim
