// Collectives that several recorded ranks took part in: whose calls belong together, on one clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/recording/observation.hpp"

namespace stepsim {

struct JoinedCall {
  std::size_t rank = 0;  ///< index of the observation
  std::size_t call = 0;  ///< index in its communication's calls
};

struct JoinedCollective {
  CommunicationKind kind;
  std::string step;                 ///< its name; empty: no steps are marked
  std::vector<JoinedCall> members;  ///< two or more, in order of the observations
};

/// Calls are joined by their group, their step, and their place among the group's calls in it; of
/// operations that all members of a group take part in. Groups whose members differ in the number
/// or in the operations of a step are left out there: their number is `unmatched`.
struct JoinedCollectives {
  std::vector<JoinedCollective> all;
  std::size_t unmatched = 0;
  bool unnamed_groups = false;  ///< some name no group: all ranks were taken for one
};
JoinedCollectives join_collectives(const std::vector<Observation>& ranks);

/// What has to be added to a rank's times so that its clock agrees with the first rank's.
struct ClockShift {
  std::optional<Nanoseconds> shift;  ///< nothing: no collective tells
  std::size_t collectives = 0;       ///< that tell
};

struct Clocks {
  std::vector<ClockShift> ranks;
  std::size_t binding = 0;   ///< collectives whose ends tell
  Nanoseconds residual = 0;  ///< median distance of ends of a collective that ought to be one
};

/// All-reduces, all-gathers and reduce-scatters end at the same time on all ranks, to some
/// microseconds on one host; the shift is the median over them. Ranks that share no collective with
/// the first are reached through others.
Clocks align_clocks(const std::vector<Observation>& ranks, const JoinedCollectives& joined);

}  // namespace stepsim
