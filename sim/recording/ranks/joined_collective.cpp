// Joins calls of ranks by group, step and place, and aligns clocks on their ends.
#include "sim/recording/ranks/joined_collective.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/recording/median.hpp"

namespace stepsim {
namespace {

/// Transfers have two ends of different names, and groups of two, which say nothing of others.
bool is_of_all_members(const CommunicationKind& kind) {
  return binds_ends(kind) || kind.operation == "all_to_all" || kind.operation == "broadcast" ||
         kind.operation == "dispatch" || kind.operation == "combine";
}

std::string identity_of(const CommunicationKind& kind) {
  // Communicators of equal members run beside each other: their names tell them apart.
  if (!kind.ranks.empty())
    return fmt::format("group {} of {}", kind.group, fmt::join(kind.ranks, ","));
  return kind.group.empty() ? "" : fmt::format("group {} of {}", kind.group, kind.group_size);
}

using CallsOfRank = std::map<std::size_t, std::vector<std::size_t>>;  ///< by rank, in order
using Key = std::pair<std::string, std::string>;                      ///< group and step

std::map<Key, CallsOfRank> calls_by_group(const std::vector<Observation>& ranks) {
  std::map<Key, CallsOfRank> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankCommunication& communication = ranks[rank].communication;
    for (std::size_t i = 0; i < communication.calls.size(); ++i) {
      const CommunicationCall& call = communication.calls[i];
      const CommunicationKind& kind = communication.kinds[call.kind];
      if (!is_of_all_members(kind)) continue;
      if (call.step < 0 && !ranks[rank].steps.empty()) continue;
      const std::string step =
          call.step < 0 ? "" : ranks[rank].steps[static_cast<std::size_t>(call.step)].name;
      groups[{identity_of(kind), step}][rank].push_back(i);
    }
  }
  return groups;
}

const CommunicationKind& kind_at(const Observation& rank, std::size_t call) {
  return rank.communication.kinds[rank.communication.calls[call].kind];
}

bool have_the_same_calls(const std::vector<Observation>& ranks, const CallsOfRank& calls) {
  const std::size_t first_rank = calls.begin()->first;
  const std::vector<std::size_t>& first = calls.begin()->second;
  return std::ranges::all_of(calls, [&](const auto& entry) {
    const auto& [rank, own] = entry;
    if (own.size() != first.size()) return false;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (kind_at(ranks[rank], own[i]).operation != kind_at(ranks[first_rank], first[i]).operation)
        return false;
    }
    return true;
  });
}

/// By pairs of ranks, the differences of the ends of what both took part in: first minus second.
using Differences = std::map<std::pair<std::size_t, std::size_t>, std::vector<Nanoseconds>>;

Nanoseconds end_of(const std::vector<Observation>& ranks, const JoinedCall& call) {
  return ranks[call.rank].communication.calls[call.call].time.end;
}

Differences differences_of(const std::vector<Observation>& ranks, const JoinedCollectives& joined) {
  Differences differences;
  for (const JoinedCollective& collective : joined.all) {
    if (!binds_ends(collective.kind)) continue;
    // The first member stands for all: pairs of all would grow with the square of the group.
    const JoinedCall& first = collective.members.front();
    for (std::size_t i = 1; i < collective.members.size(); ++i) {
      const JoinedCall& other = collective.members[i];
      const Nanoseconds later = end_of(ranks, first) - end_of(ranks, other);
      differences[{first.rank, other.rank}].push_back(later);
      differences[{other.rank, first.rank}].push_back(-later);
    }
  }
  return differences;
}

Nanoseconds residual_of(const std::vector<Observation>& ranks, const JoinedCollectives& joined,
                        const Clocks& clocks) {
  std::vector<Nanoseconds> distances;
  for (const JoinedCollective& collective : joined.all) {
    if (!binds_ends(collective.kind)) continue;
    std::vector<Nanoseconds> ends;
    for (const JoinedCall& call : collective.members) {
      if (const auto& shift = clocks.ranks[call.rank].shift)
        ends.push_back(end_of(ranks, call) + *shift);
    }
    if (ends.size() < 2) continue;
    const auto [least, most] = std::ranges::minmax(ends);
    distances.push_back(most - least);
  }
  return distances.empty() ? 0 : upper_median(std::move(distances));
}

}  // namespace

JoinedCollectives join_collectives(const std::vector<Observation>& ranks) {
  JoinedCollectives joined;
  for (const auto& [key, calls] : calls_by_group(ranks)) {
    if (calls.size() < 2) continue;
    joined.unnamed_groups = joined.unnamed_groups || key.first.empty();
    const auto& [first_rank, first] = *calls.begin();
    if (!have_the_same_calls(ranks, calls)) {
      joined.unmatched += first.size();
      continue;
    }
    for (std::size_t i = 0; i < first.size(); ++i) {
      JoinedCollective& collective = joined.all.emplace_back(
          JoinedCollective{kind_at(ranks[first_rank], first[i]), key.second, {}});
      for (const auto& [rank, own] : calls) collective.members.push_back({rank, own[i]});
    }
  }
  return joined;
}

Clocks align_clocks(const std::vector<Observation>& ranks, const JoinedCollectives& joined) {
  Clocks clocks;
  clocks.ranks.resize(ranks.size());
  if (ranks.empty()) return clocks;
  const Differences differences = differences_of(ranks, joined);
  // Processes in one file have one clock.
  std::vector<std::size_t> reached;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].file != ranks.front().file) continue;
    clocks.ranks[i].shift = 0;
    reached.push_back(i);
  }
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::size_t from = reached[next];
    for (auto pair = differences.lower_bound({from, 0});
         pair != differences.end() && pair->first.first == from; ++pair) {
      ClockShift& to = clocks.ranks[pair->first.second];
      if (to.shift) continue;
      to.shift = *clocks.ranks[from].shift + upper_median(pair->second);
      to.collectives = pair->second.size();
      reached.push_back(pair->first.second);
    }
  }
  clocks.binding = static_cast<std::size_t>(std::ranges::count_if(
      joined.all, [](const JoinedCollective& one) { return binds_ends(one.kind); }));
  clocks.residual = residual_of(ranks, joined, clocks);
  return clocks;
}

}  // namespace stepsim
