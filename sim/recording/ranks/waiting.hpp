// How long ranks wait for members of collectives that come later.
#pragma once

#include <vector>

#include "sim/recording/ranks/recorded_job.hpp"

namespace stepsim {

/// One collective, seen by those that wait in it.
struct Waiting {
  const JoinedCollective* collective = nullptr;
  std::size_t last = 0;                 ///< index in its members of the one that comes last
  Nanoseconds late = 0;                 ///< how much later than the median of the others it comes
  Nanoseconds alone = 0;                ///< how much later than the second last one
  std::vector<Nanoseconds> last_start;  ///< by member: when the last one comes, on its own clock
  /// By member: how long it waits while nothing else runs on its GPU; 0 for the last one, and for
  /// one whose call ends before the last one comes.
  std::vector<Nanoseconds> waits;
  Nanoseconds mean_wait() const;  ///< of the other members
};

/// The collectives in which members wait for the last one, in their order: all but those with a root
/// that nobody waits in, for the root may go on before others come.
std::vector<Waiting> waiting_in(const std::vector<Observation>& ranks, const JoinedCollectives& all,
                                const Clocks& clocks);

/// The ranks that others wait for, by more than clocks differ.
std::vector<LateRank> late_ranks_of(const std::vector<Observation>& ranks,
                                    const std::vector<Waiting>& waiting, Nanoseconds residual);

}  // namespace stepsim
