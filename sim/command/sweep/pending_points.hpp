// The points of a sweep that are left to simulate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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
  /// The next point to simulate. Says "later" after a thousand that are done already.
  NextPiece next();
  /// Keeps what became of a point that `next` gave.
  void keep(const Ended& ended);

 private:
  bool is_due(std::int64_t i) const;

  const Sweep& sweep_;
  const PointList& points_;
  const Shard& shard_;
  SweepStore& store_;
  const std::string& build_;
  const std::function<void()>& on_done_;
  std::int64_t next_ = 0;
};

}  // namespace stepsim
