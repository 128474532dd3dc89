// Attributes waiting in a collective to the rank that comes last, and that to what it did longer.
#include "sim/recording/ranks/waiting.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "sim/recording/median.hpp"

namespace stepsim {
namespace {

constexpr double kWorthSaying = 0.01;  // share of a step, as for what nothing hides

const CommunicationCall& call_of(const std::vector<Observation>& ranks, const JoinedCall& member) {
  return ranks[member.rank].communication.calls[member.call];
}

/// When each member comes, on the common clock. Empty where a clock is not known.
std::vector<Nanoseconds> starts_of(const std::vector<Observation>& ranks,
                                   const JoinedCollective& collective, const Clocks& clocks) {
  std::vector<Nanoseconds> starts;
  for (const JoinedCall& member : collective.members) {
    const auto& shift = clocks.ranks[member.rank].shift;
    if (!shift) return {};
    starts.push_back(call_of(ranks, member).time.start + *shift);
  }
  return starts;
}

std::vector<Nanoseconds> without(std::vector<Nanoseconds> values, std::size_t one) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(one));
  return values;
}

Waiting waiting_of(const std::vector<Observation>& ranks, const JoinedCollective& collective,
                   const std::vector<Nanoseconds>& starts) {
  Waiting waiting{.collective = &collective};
  const auto last = std::ranges::max_element(starts);
  waiting.last = static_cast<std::size_t>(last - starts.begin());
  const std::vector<Nanoseconds> others = without(starts, waiting.last);
  waiting.late = *last - upper_median(others);
  waiting.alone = *last - *std::ranges::max_element(others);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const CommunicationCall& call = call_of(ranks, collective.members[i]);
    const Interval until_last{call.time.start, call.time.start + (*last - starts[i])};
    waiting.last_start.push_back(until_last.end);
    // A root may go on before others come: who was done by then did not wait.
    const bool waited = !has_root(collective.kind) || call.time.end > until_last.end;
    waiting.waits.push_back(waited ? length_within(call.exposed, until_last) : 0);
  }
  return waiting;
}

/// Puts the waiting for one rank together.
struct Blame {
  LateRank late;
  std::array<Nanoseconds, kOwnWorks> longer{};
  Nanoseconds before = 0;
  std::map<std::string, Nanoseconds> by_step;
};

class Blamer {
 public:
  Blamer(const std::vector<Observation>& ranks, Nanoseconds residual)
      : ranks_(ranks), residual_(residual), blames_(ranks.size()), before_(ranks.size()) {
    for (const Observation& rank : ranks) work_.emplace_back(rank.own_work);
  }

  void add(const Waiting& waiting) {
    const JoinedCollective& collective = *waiting.collective;
    for (const JoinedCall& member : collective.members) ++blames_[member.rank].late.of_collectives;
    const std::size_t rank = collective.members[waiting.last].rank;
    Blame& blame = blames_[rank];
    ++blame.late.last_at;
    const Nanoseconds wait = waiting.late > residual_ ? waiting.mean_wait() : 0;
    blame.late.late_s += seconds_of(wait);
    blame.late.alone_s += seconds_of(std::min(wait, waiting.alone));
    blame.by_step[collective.step] += wait;
    explain(waiting, wait, blame);
  }

  std::vector<LateRank> late_ranks() {
    std::vector<LateRank> found;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      LateRank late = finished(rank);
      const double steps = static_cast<double>(std::max<std::size_t>(1, ranks_[rank].steps.size()));
      const double step = seconds_of(ranks_[rank].window.length()) / steps;
      if (late.late_s > kWorthSaying * step) found.push_back(std::move(late));
    }
    std::ranges::stable_sort(found, std::greater{}, &LateRank::late_s);
    return found;
  }

 private:
  /// Compares what the last rank did since the collective before, until it came, with what a median
  /// member did in that time.
  void explain(const Waiting& waiting, Nanoseconds wait, Blame& blame) {
    const auto& members = waiting.collective->members;
    std::array<std::vector<Nanoseconds>, kOwnWorks> others;
    OwnWorkTimes own{};
    bool is_first = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& before = before_[members[i].rank];
      is_first = is_first || !before;
      const OwnWorkTimes until = work_[members[i].rank].at(waiting.last_start[i]);
      OwnWorkTimes since = until;
      for (std::size_t k = 0; before && k < kOwnWorks; ++k) since[k] -= (*before)[k];
      before = until;
      if (i == waiting.last) own = since;
      for (std::size_t k = 0; k < kOwnWorks && i != waiting.last; ++k)
        others[k].push_back(since[k]);
    }
    Nanoseconds explained = 0;
    for (std::size_t k = 0; k < kOwnWorks; ++k) {
      const Nanoseconds longer = own[k] - upper_median(others[k]);
      blame.longer[k] += longer;
      explained += longer;
    }
    // Ranks whose recordings begin at different moments of a step differ before the first.
    if (is_first && explained < waiting.late / 2) blame.before += wait;
  }

  double kernels_of_others(std::size_t rank) const {
    std::vector<Nanoseconds> others;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (i != rank) others.push_back(static_cast<Nanoseconds>(ranks_[i].compute_kernels));
    }
    return others.empty() ? 0 : static_cast<double>(upper_median(std::move(others)));
  }

  LateRank finished(std::size_t rank) {
    Blame& blame = blames_[rank];
    LateRank late = blame.late;
    const std::size_t marked = ranks_[rank].steps.size();
    const double steps = static_cast<double>(std::max<std::size_t>(1, marked));
    late.index = rank;
    late.rank = ranks_[rank].rank;
    late.late_s /= steps;
    late.alone_s /= steps;
    late.before_s = seconds_of(blame.before) / steps;
    late.kernels = ranks_[rank].compute_kernels;
    late.kernels_of_others = kernels_of_others(rank);
    const auto most = std::ranges::max_element(blame.longer);
    if (*most > 0) late.reason = static_cast<OwnWork>(most - blame.longer.begin());
    late.reason_s = seconds_of(std::max<Nanoseconds>(0, *most)) / steps;
    for (const ObservedStep& step : ranks_[rank].steps)
      late.by_step_s.push_back(seconds_of(blame.by_step[step.name]));
    const auto is_late = [&](double seconds) { return seconds > late.late_s / 4; };
    late.is_stable = 2 * std::ranges::count_if(late.by_step_s, is_late) >=
                     static_cast<std::ptrdiff_t>(late.by_step_s.size());
    return late;
  }

  const std::vector<Observation>& ranks_;
  Nanoseconds residual_;
  std::vector<Blame> blames_;
  std::vector<OwnWorkUntil> work_;                   ///< by rank
  std::vector<std::optional<OwnWorkTimes>> before_;  ///< by rank: until the last collective so far
};

}  // namespace

Nanoseconds Waiting::mean_wait() const {
  const Nanoseconds sum = std::accumulate(waits.begin(), waits.end(), Nanoseconds{0});
  return waits.size() < 2 ? 0 : sum / static_cast<Nanoseconds>(waits.size() - 1);
}

std::vector<Waiting> waiting_in(const std::vector<Observation>& ranks, const JoinedCollectives& all,
                                const Clocks& clocks) {
  std::vector<std::pair<Nanoseconds, Waiting>> by_time;
  for (const JoinedCollective& collective : all.all) {
    const std::vector<Nanoseconds> starts = starts_of(ranks, collective, clocks);
    if (starts.empty()) continue;
    Waiting waiting = waiting_of(ranks, collective, starts);
    if (has_root(collective.kind) && waiting.mean_wait() == 0) continue;
    by_time.emplace_back(starts[waiting.last], std::move(waiting));
  }
  std::ranges::stable_sort(by_time, {}, [](const auto& entry) { return entry.first; });
  std::vector<Waiting> waiting;
  for (auto& [time, one] : by_time) waiting.push_back(std::move(one));
  return waiting;
}

std::vector<LateRank> late_ranks_of(const std::vector<Observation>& ranks,
                                    const std::vector<Waiting>& waiting, Nanoseconds residual) {
  Blamer blamer(ranks, residual);
  for (const Waiting& one : waiting) blamer.add(one);
  return blamer.late_ranks();
}

}  // namespace stepsim
