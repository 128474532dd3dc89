// Folding: ranks, groups, transfers and links that behave alike become one of each, with a
// multiplicity.
//
// The classes are the coarsest equitable partition of the plan: all members of a class have the
// same program, belong to groups of the same classes, and those use links that are loaded alike
// (colour refinement; for a fluid network, max-min rates on the quotient equal those on the whole).
// A stream of a class stands for all of its class: where m of them cross one link, it crosses the
// link m times. The result is the same to the bit; tests/property/fold_test.cpp checks it. Colours
// are hashes of 64 bits; fold.cpp has the odds that two of unlike members meet.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/plan/plan.hpp"

namespace stepsim {

/// A link that a stream crosses, and how many times.
struct Crossing {
  LinkId link = 0;
  std::uint32_t times = 1;
  bool operator==(const Crossing&) const = default;
};

/// A stream over links of the quotient.
struct FoldedStream {
  double share = 1;
  /// Links that something else may use or that are slow for a while, in order, each once. What
  /// other links allow is in `alone`.
  std::vector<Crossing> crossings;
  bool varies = false;   ///< a link of it is slow for a while
  BytesPerSecond alone;  ///< the most that its links let pass when it shares nothing
  bool shares() const { return !crossings.empty(); }
};

struct FoldedGroup {
  Channel channel{};
  std::size_t group = 0;  ///< the representative
  int members = 0;        ///< simulated ranks that must arrive
  std::array<std::vector<FoldedStream>, kPatterns> streams{};
};

struct FoldedRank {
  int rank = 0;  ///< the representative
  int multiplicity = 1;
  std::vector<int> members;               ///< all ranks of the class
  std::array<int, kChannels> group_of{};  ///< into Folding::groups; -1: none
  /// lanes of the rank's first reader, as indices into Folding::reads; -1: none
  std::array<int, kLanes> lanes = none();

 private:
  static constexpr std::array<int, kLanes> none() {
    std::array<int, kLanes> lanes{};
    lanes.fill(-1);
    return lanes;
  }
};

/// The traffic of others on a link.
struct FoldedLoad {
  LinkId link = 0;
  BytesPerSecond rate;  ///< if it is to be had beside the streams
};

struct Folding {
  std::vector<FoldedRank> ranks;
  std::vector<FoldedGroup> groups;
  std::vector<FoldedStream> reads;  ///< one for each reader of a lane
  std::vector<BytesPerSecond> links;
  std::vector<LinkWindow> windows;  ///< when links of the quotient are slow
  std::vector<FoldedLoad> background;
  int ranks_total = 0;
};

/// `fold` false: every rank, group and link by itself. REQUIRES: then, a plan of all ranks
/// (PlanOptions::folds).
Folding fold_plan(const Plan& plan, bool fold);

}  // namespace stepsim
