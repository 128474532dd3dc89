// What recordings of several ranks show together: on one clock, who comes last at which collective,
// by how much and why, and what collectives reach.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/recording/observation.hpp"
#include "sim/recording/ranks/joined_collective.hpp"
#include "sim/recording/ranks/own_work.hpp"

namespace stepsim {

/// Calls that are alike: an operation of groups of one size and purpose.
struct ObservedCollective {
  std::string operation;
  Axis axis = Axis::data;
  std::string group;   ///< its description or name; empty: not recorded
  int group_size = 0;  ///< 0: not recorded
  double calls = 0, bytes = 0, seconds = 0, exposed_s = 0;  ///< of a mean rank, in its window
  double waiting_s = 0;        ///< of exposed_s: a member had not come yet; of a mean rank
  bool knows_waiting = false;  ///< its calls were joined with those of other ranks
  /// From the shortest kernel of each collective's ranks, which waited least; 0: sizes not
  /// recorded.
  double bus_bytes_per_s = 0;
  bool is_lower_bound = true;  ///< some of the time is waiting for ranks that are not here
};

/// A rank that others wait for.
struct LateRank {
  std::size_t index = 0;  ///< of the observation
  std::optional<int> rank;
  double late_s = 0;   ///< in a mean step: how long a mean other member of its groups waits for it
  double alone_s = 0;  ///< part of late_s in which it alone has not come: others may be late, too
  std::size_t last_at = 0,
              of_collectives = 0;       ///< how often it comes last, of those it takes part in
  OwnWork reason = OwnWork::not_known;  ///< what it did longer than the others
  double reason_s = 0;                  ///< by how much, in a mean step
  /// Kernels that compute, in its window, and those of a median other rank: more of them is more
  /// work.
  double kernels = 0, kernels_of_others = 0;
  bool has_more_work() const { return kernels > 1.05 * kernels_of_others; }
  /// Part of late_s that had happened before the first of the recorded collectives.
  double before_s = 0;
  std::vector<double> by_step_s;  ///< late_s in each of its steps
  bool is_stable = true;          ///< late in most steps, not in a few
};

struct RecordedJob {
  std::string path;                ///< the file or folder, as the user named it
  std::vector<Observation> ranks;  ///< in order of their rank
  Clocks clocks;
  bool unnamed_groups = false;            ///< all ranks were taken for one group
  std::size_t joined = 0, unmatched = 0;  ///< collectives, with and without their counterparts
  std::vector<ObservedCollective> collectives;  ///< the longest first
  std::vector<LateRank> late_ranks;  ///< those that cost more than 1 % of a step, the latest first
  std::size_t pace = 0;              ///< index of the rank that works longest
  std::vector<std::string> not_known;  ///< of the job; each rank has its own besides

  const Observation& pace_rank() const { return ranks[pace]; }
};

/// All that follows. What waits for a member that has not come yet becomes sync_wait in the
/// breakdown of each rank. REQUIRES: at least one rank.
RecordedJob job_of(std::vector<Observation> ranks);

}  // namespace stepsim
