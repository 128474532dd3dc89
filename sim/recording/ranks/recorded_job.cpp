// Puts together what follows from several ranks.
#include "sim/recording/ranks/recorded_job.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/recording/ranks/waiting.hpp"

namespace stepsim {
namespace {

/// Recordings that are further apart are of different runs: judgement, above the seconds by which
/// clocks of hosts without a time service differ.
constexpr Nanoseconds kFurthestApart = 60'000'000'000;

using Alike = std::tuple<std::string, Axis, std::string, int>;

Alike alike_key(const CommunicationKind& kind) {
  const std::string& group = kind.group_description.empty() ? kind.group : kind.group_description;
  return {kind.operation, kind.axis, group, kind.group_size};
}

/// Sums over all ranks, until they are divided.
std::map<Alike, ObservedCollective> sums_of(const std::vector<Observation>& ranks) {
  std::map<Alike, ObservedCollective> sums;
  for (const Observation& rank : ranks) {
    for (const CommunicationCall& call : rank.communication.calls) {
      const CommunicationKind& kind = rank.communication.kinds[call.kind];
      ObservedCollective& sum = sums[alike_key(kind)];
      ++sum.calls;
      sum.bytes += call.bytes;
      sum.seconds += seconds_of(call.time.length());
      sum.exposed_s += seconds_of(length(call.exposed));
    }
  }
  return sums;
}

struct Rate {
  double bus_bytes = 0, seconds = 0;
};

/// A collective takes as long as its shortest kernel, whose rank waited least for others.
std::map<Alike, Rate> rates_of(const std::vector<Observation>& ranks,
                               const JoinedCollectives& joined) {
  std::map<Alike, Rate> rates;
  const auto add = [&](const CommunicationKind& kind, double bytes, double seconds, int members) {
    const double factor =
        bus_factor(kind.operation, kind.group_size > 0 ? kind.group_size : members);
    if (bytes <= 0 || seconds <= 0 || factor <= 0) return;
    Rate& rate = rates[alike_key(kind)];
    rate.bus_bytes += factor * bytes;
    rate.seconds += seconds;
  };
  for (const JoinedCollective& collective : joined.all) {
    double bytes = 0, shortest = 0;
    for (const JoinedCall& member : collective.members) {
      const CommunicationCall& call = ranks[member.rank].communication.calls[member.call];
      const double seconds = seconds_of(call.time.length());
      bytes = std::max(bytes, call.bytes);
      shortest = shortest > 0 ? std::min(shortest, seconds) : seconds;
    }
    add(collective.kind, bytes, shortest, static_cast<int>(collective.members.size()));
  }
  if (ranks.size() > 1) return rates;
  for (const CommunicationCall& call : ranks.front().communication.calls)
    add(ranks.front().communication.kinds[call.kind], call.bytes, seconds_of(call.time.length()),
        0);
  return rates;
}

/// Kinds of collectives all of whose members are here each time.
bool are_all_here(const JoinedCollectives& joined, const Alike& alike) {
  bool any = false;
  for (const JoinedCollective& collective : joined.all) {
    if (alike_key(collective.kind) != alike) continue;
    any = true;
    if (collective.kind.group_size != static_cast<int>(collective.members.size())) return false;
  }
  return any;
}

std::vector<ObservedCollective> collectives_of(const RecordedJob& job,
                                               const JoinedCollectives& joined,
                                               const std::vector<Waiting>& waiting) {
  std::map<Alike, ObservedCollective> sums = sums_of(job.ranks);
  for (const Waiting& one : waiting) {
    for (const Nanoseconds wait : one.waits)
      sums[alike_key(one.collective->kind)].waiting_s += seconds_of(wait);
  }
  for (const JoinedCollective& one : joined.all) sums[alike_key(one.kind)].knows_waiting = true;
  const std::map<Alike, Rate> rates = rates_of(job.ranks, joined);
  const double ranks = static_cast<double>(job.ranks.size());
  std::vector<ObservedCollective> all;
  for (auto& [alike, sum] : sums) {
    std::tie(sum.operation, sum.axis, sum.group, sum.group_size) = alike;
    for (double* of : {&sum.calls, &sum.bytes, &sum.seconds, &sum.exposed_s, &sum.waiting_s})
      *of /= ranks;
    const auto rate = rates.find(alike);
    if (rate != rates.end()) sum.bus_bytes_per_s = rate->second.bus_bytes / rate->second.seconds;
    sum.is_lower_bound = !are_all_here(joined, alike);
    all.push_back(std::move(sum));
  }
  std::ranges::stable_sort(all, std::greater{}, &ObservedCollective::seconds);
  return all;
}

/// Moves waiting for members from communication that nothing hides to sync_wait.
void split_waiting(std::vector<Observation>& ranks, const std::vector<Waiting>& waiting) {
  for (const Waiting& one : waiting) {
    for (std::size_t i = 0; i < one.waits.size(); ++i) {
      const JoinedCall& member = one.collective->members[i];
      Breakdown& breakdown = ranks[member.rank].breakdown;
      const RankCommunication& own = ranks[member.rank].communication;
      breakdown.of(exposed(own.kinds[own.calls[member.call].kind].axis)) -= one.waits[i];
      breakdown.of(Cause::sync_wait) += one.waits[i];
    }
  }
}

/// All but waiting for others, and what nobody knows.
Nanoseconds own_work(const Observation& rank) {
  Nanoseconds work =
      rank.window.length() - rank.breakdown.not_known - rank.breakdown.of(Cause::sync_wait);
  for (const Axis axis : kAllAxes) work -= rank.breakdown.of(exposed(axis));
  return work;
}

/// Ranks of the job that no recording is of.
struct MissingRanks {
  int count = 0;
  std::vector<int> first;  ///< at most 8
};

MissingRanks missing_ranks(const std::vector<Observation>& ranks) {
  constexpr std::size_t kShown = 8;
  std::set<int> here;
  int world = 0;
  for (const Observation& rank : ranks) world = std::max(world, rank.world_size.value_or(0));
  for (const Observation& rank : ranks) {
    if (rank.rank && *rank.rank < world) here.insert(*rank.rank);
  }
  MissingRanks missing{.count = std::max(0, world - static_cast<int>(ranks.size())), .first = {}};
  if (here.size() < ranks.size()) return missing;  // some say no rank of that world
  for (int rank = 0; rank < world && missing.first.size() < kShown; ++rank) {
    if (!here.contains(rank)) missing.first.push_back(rank);
  }
  return missing;
}

/// " (1, 2, ...)"; empty where it is not known which.
std::string names_of(const MissingRanks& missing) {
  if (missing.first.empty()) return "";
  return fmt::format(" ({}{})", fmt::join(missing.first, ", "),
                     missing.count > static_cast<int>(missing.first.size()) ? ", ..." : "");
}

/// Recordings of one run say the same number of ranks, and were made at the same time.
void about_runs(RecordedJob& job) {
  std::set<int> sizes;
  std::set<std::string> devices;
  Nanoseconds last_start = job.ranks.front().window.start, first_end = job.ranks.front().window.end;
  for (const Observation& rank : job.ranks) {
    if (rank.world_size) sizes.insert(*rank.world_size);
    if (!rank.device.empty()) devices.insert(rank.device);
    last_start = std::max(last_start, rank.window.start);
    first_end = std::min(first_end, rank.window.end);
  }
  if (sizes.size() > 1)
    job.not_known.push_back(fmt::format(
        "The recordings are of jobs of {} ranks: they are hardly of one run, and what is said of "
        "ranks together means nothing then.",
        fmt::join(sizes, ", ")));
  if (devices.size() > 1)
    job.not_known.push_back(fmt::format(
        "The ranks have different GPUs ({}): the slower ones' kernels make others wait.",
        fmt::join(devices, ", ")));
  if (last_start - first_end > kFurthestApart)
    job.not_known.push_back(
        "Some recordings begin more than a minute after others have ended: they are hardly of one "
        "run, and what is said of ranks together means nothing then.");
}

void about_ranks(RecordedJob& job) {
  const MissingRanks missing = missing_ranks(job.ranks);
  if (missing.count > 0 && job.ranks.front().world_size)
    job.not_known.push_back(fmt::format(
        "{} of {} ranks are not here{}: whoever is late may be one of them.", missing.count,
        missing.count + static_cast<int>(job.ranks.size()), names_of(missing)));
  if (job.ranks.size() < 2) return;
  about_runs(job);
  std::size_t apart = 0;
  for (const ClockShift& clock : job.clocks.ranks) apart += clock.shift ? 0 : 1;
  if (apart > 0)
    job.not_known.push_back(fmt::format(
        "The clocks of {} of {} ranks could not be aligned: no collective of the recording ties "
        "them to the first rank.",
        apart, job.ranks.size()));
  if (job.unnamed_groups && job.ranks.size() > 2)
    job.not_known.push_back(
        "The recording does not name the groups of its collectives: all ranks are taken for one "
        "group, which aligns their clocks and says who is late. NCCL's fields name groups (PyTorch "
        "since 2024).");
  if (job.unmatched > 0)
    job.not_known.push_back(fmt::format(
        "{} collectives have other counterparts on other ranks, or none: who is late at them is "
        "not known.",
        job.unmatched));
}

}  // namespace

RecordedJob job_of(std::vector<Observation> ranks) {
  RecordedJob job;
  job.ranks = std::move(ranks);
  std::ranges::stable_sort(job.ranks, {}, [](const Observation& rank) {
    return rank.rank.value_or(std::numeric_limits<int>::max());
  });
  const JoinedCollectives joined = join_collectives(job.ranks);
  job.clocks = align_clocks(job.ranks, joined);
  job.joined = joined.all.size();
  job.unmatched = joined.unmatched;
  job.unnamed_groups = joined.unnamed_groups;
  const std::vector<Waiting> waiting = waiting_in(job.ranks, joined, job.clocks);
  job.collectives = collectives_of(job, joined, waiting);
  job.late_ranks = late_ranks_of(job.ranks, waiting, job.clocks.residual);
  split_waiting(job.ranks, waiting);
  for (std::size_t i = 1; i < job.ranks.size(); ++i) {
    if (own_work(job.ranks[i]) > own_work(job.ranks[job.pace])) job.pace = i;
  }
  about_ranks(job);
  return job;
}

}  // namespace stepsim
