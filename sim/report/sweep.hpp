// A sweep's answer, and its writers: a table, JSON, CSV.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/scenario/sweep/axis.hpp"
#include "sim/sweep/flatness.hpp"
#include "sim/sweep/objective.hpp"
#include "sim/sweep/outcome.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The points that differ from the best one in one axis only, in the order of that axis' values.
struct AxisSlice {
  std::vector<std::optional<Outcome>> outcomes;  ///< one for each value; nothing: not simulated
  std::vector<std::size_t> order;  ///< the values' places, rising where they are numbers
  std::optional<FlatRange>
      flat;  ///< places in `order`; nothing: the axis holds words, or links keys
};

/// The points that were asked for, where they are a part of all.
struct SweepShard {
  std::int64_t part = 1, of = 1;  ///< counted from 1
  std::int64_t points = 0;
};

struct SweepAnswer {
  std::string name;  ///< name of the scenario
  std::vector<SweepAxis> axes;
  std::int64_t grid = 0;    ///< points that the axes span
  std::int64_t wanted = 0;  ///< points of the grid that are left after conditions and draws
  std::int64_t done = 0;
  std::int64_t ok = 0;
  std::int64_t alike = 0;            ///< points whose scenario a point before them has, too
  std::optional<SweepShard> shard;   ///< absent: all points were asked for, or all are done
  std::vector<StateExample> others;  ///< states that are not ok, and how many points have them
  const Objective* objective = nullptr;
  bool has_tokens = true;  ///< false: costs are of a million samples
  std::string unequal;     ///< why the objective is no fair measure of these points; empty: it is
  std::vector<SweepPoint> best;   ///< the best of those that are ok, best first
  std::vector<AxisSlice> slices;  ///< one for each axis, through the best point; empty: none is ok
  std::vector<SweepPoint> all;    ///< every point of one or two axes of few values; else empty
  std::string store;              ///< the file that keeps them
  std::int64_t view = 0;          ///< number N of the view sweep_N in the file
};

/// What a point sets, by the last words of the keys: "tensor 8, micro_batch 2".
std::string point_title(const std::vector<SweepAxis>& axes, std::int64_t point);
/// The last word of an axis' key, or more of it where another axis ends in that word.
std::string axis_title(const std::vector<SweepAxis>& axes, std::size_t axis);
/// A value of the objective as text: "22.5 ms", "44.2 %", "61.0 GiB", "1.32 $".
std::string objective_text(const Objective& objective, double value);
/// How far a value is from the best, as a share of it: "+12.3 %", "-4.1 %"; "best" for the best
/// itself.
std::string distance_text(double value, double best);
/// How much an axis matters: "25 MiB; anything from 15 MiB to 60 MiB is within 1 %"; empty where
/// nothing can be said.
std::string flatness_sentence(const SweepAnswer& answer, std::size_t axis);

/// The answer for a terminal.
std::string sweep_text(const SweepAnswer& answer, const Screen& screen);

/// Calls a function with every point, in the order of the grid.
using EachPoint = std::function<void(const std::function<void(const SweepPoint&)>&)>;
/// Writes the answer as JSON of schema stepsim.sweep_result/1; points are written as they come.
void write_sweep_json(const SweepAnswer& answer, const EachPoint& each, std::ostream& out);
/// Writes the answer as CSV, one line a point.
void write_sweep_csv(const SweepAnswer& answer, const EachPoint& each, std::ostream& out);

}  // namespace stepsim
