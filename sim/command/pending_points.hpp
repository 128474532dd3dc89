// The points of a sweep that are left to simulate: one of those that lead to the same scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/process/forked.hpp"
#include "sim/scenario/sweep/sweep_points.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/sweep/shard.hpp"

namespace stepsim {

class PendingPoints {
 public:
  /// `build` is what simulates them. `on_done` is called once for each point that has its outcome.
  /// REQUIRES: all of these live as long as it does.
  PendingPoints(const Sweep& sweep, const PointList& points, const Shard& shard, SweepStore& store,
                const std::string& build, const std::function<void()>& on_done);

  /// Points without an outcome that would stay.
  std::int64_t left() const;
  /// The next point to simulate. Points of a scenario that has an outcome get it; points of one
  /// that is under way wait for it; points that are refused are done. Says "later" after each such
  /// point, and after a thousand that are done already.
  NextPiece next();
  /// What a point that is under way resolves to; nothing: it is under way elsewhere.
  const Scenario* resolved(std::int64_t point) const;
  /// Keeps the outcome of a point that `next` gave, also for those that wait for it.
  void keep(std::int64_t point, const Outcome& outcome);

 private:
  bool is_due(std::int64_t i) const;
  void add(const SweepPoint& point);

  const Sweep& sweep_;
  const PointList& points_;
  const Shard& shard_;
  SweepStore& store_;
  const std::string& build_;
  const std::function<void()>& on_done_;
  std::int64_t next_ = 0;
  std::map<std::int64_t, Scenario> under_way_;
  std::map<std::string, std::vector<std::int64_t>> waiting_;  ///< by fingerprints under way
};

}  // namespace stepsim
