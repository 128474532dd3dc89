// The results of sweeps in a file of SQLite: kept as they come, found again after a crash.
//
// One file holds several sweeps. `sweeps` has one row for each; `points` one for each point that is
// done; and the view `sweep_N` shows those of sweep N with a column for each varied key. Other
// rooms see this header alone; SQLite stays behind it.
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

/// What a file says about one sweep.
struct SweepRecord {
  std::string identity;  ///< fingerprint of the scenario, the axes and the chosen points
  std::string inputs;    ///< fingerprint of the profiles that its scenarios read
  std::string name, file;
  std::vector<SweepAxis> axes;  ///< axes without the places where they were written
  std::int64_t points = 0;      ///< number of points that the sweep wants
  std::string objective;
};

class SweepStore {
 public:
  /// Opens a file to write, and makes it where it is missing. Throws IoError when it cannot be
  /// used, UserError when it is no file of sweeps.
  explicit SweepStore(const std::string& path);
  /// Opens an existing file to read: nothing in it changes. Throws IoError where there is no file,
  /// UserError when it is no file of sweeps.
  static SweepStore reader(const std::string& path);
  ~SweepStore();
  SweepStore(SweepStore&& other) noexcept;
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  /// Whether the file or its folder cannot be written, so that it can only be read.
  static bool is_read_only(const std::string& path);

  /// The sweeps of the file, in the order in which they were begun.
  std::vector<SweepRecord> sweeps() const;

  /// Chooses the sweep with the identity of `record`, and adds it where it is missing; `anew`
  /// forgets its points. All functions below are about the chosen sweep. Throws UserError where the
  /// sweep has a point that cannot be: beyond its grid, or ok without numbers.
  void choose(const SweepRecord& record, bool anew);
  /// Chooses the sweep with the identity of `record` in a file that is only read. Throws as
  /// `choose` does. REQUIRES: the file has that sweep.
  void look_at(const SweepRecord& record);
  /// The number N of the sweep's view `sweep_N`.
  std::int64_t number() const;

  /// Whether the point is done.
  bool has(std::int64_t point) const;
  /// Whether the point is done for good: its outcome depends on neither the machine nor its limits.
  bool has_settled(std::int64_t point) const;
  std::int64_t count() const;
  /// The number of points that have the scenario of a point before them.
  std::int64_t count_alike() const;
  std::vector<std::int64_t> count_by_state() const;
  /// The builds that simulated the sweep's points, sorted.
  std::vector<std::string> builds() const;

  /// The least and the most samples of a step and GPUs among the points that are ok.
  struct Work {
    double least_samples = 0, most_samples = 0;
    double least_gpus = 0, most_gpus = 0;
  };
  Work work() const;

  /// One example of each state except ok that some point has.
  std::vector<StateExample> examples() const;

  /// Adds a point. It is safe in the file after `flush`.
  void add(const SweepPoint& point);
  /// Makes safe the points that have waited for half a second, unless somebody reads the file at
  /// that moment: then the next call does. A call that comes earlier costs nothing.
  void save();
  void flush();
  /// From here on no point is safe, nor stays, without a `flush`: all points are kept, or none.
  void hold();

  /// The best `most` points of those that are ok; equal points are in the order of the grid.
  std::vector<SweepPoint> best(const Objective& objective, std::int64_t most) const;
  /// Calls `visit` with every point that is done, in the order of the grid.
  void each(const std::function<void(const SweepPoint&)>& visit) const;
  /// The point. REQUIRES: it is done.
  SweepPoint point(std::int64_t number) const;
  /// The points among `points` that are done, in the order of the grid.
  std::vector<SweepPoint> some(const std::vector<std::int64_t>& points) const;

 private:
  struct File;
  explicit SweepStore(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

}  // namespace stepsim
