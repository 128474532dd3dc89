// Finds stragglers by their peers, and says who they are.
#include "sim/report/measure/straggler.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kDeviations = 6;
constexpr double kSigmaOfMedianDeviation = 1.4826;  // for a normal distribution: 1 / quantile(3/4)
constexpr double kWorthSaying = 1e-3;               // share of a step
constexpr std::size_t kNamed = 4;

/// A class of ranks, and the time that a step takes each of them for itself.
struct Pace {
  const RankPace* rank;
  double own, stall;
  int count() const { return static_cast<int>(rank->members.size()); }
};

/// The median over ranks of a number that all ranks of a class share.
double median(std::vector<std::pair<double, int>> values) {
  std::ranges::sort(values);
  int ranks = 0, passed = 0;
  for (const auto& [value, count] : values) ranks += count;
  for (const auto& [value, count] : values) {
    passed += count;
    if (2 * passed >= ranks) return value;
  }
  return 0;
}

/// Adds the stragglers of one stage.
void add_stragglers(std::vector<Straggler>& found, const std::vector<Pace>& peers, double step) {
  std::vector<std::pair<double, int>> own, stalls, deviations;
  for (const Pace& pace : peers) own.emplace_back(pace.own, pace.count());
  for (const Pace& pace : peers) stalls.emplace_back(pace.stall, pace.count());
  const double usual = median(own), usual_stall = median(stalls);
  for (const auto& [time, count] : own) deviations.emplace_back(std::abs(time - usual), count);
  const double chance = kDeviations * kSigmaOfMedianDeviation * median(deviations);
  for (const Pace& pace : peers) {
    const double late = pace.own - usual;
    if (late <= std::max(chance, kWorthSaying * step)) continue;
    found.push_back({.ranks = pace.rank->members,
                     .stage = pace.rank->stage,
                     .late = Seconds{late},
                     .stall = Seconds{pace.stall - usual_stall},
                     .factor = (pace.own - pace.stall) / (usual - usual_stall)});
  }
}

/// The ranks in words: "ranks 5, 13 and 2 more".
std::string named(const std::vector<int>& ranks, int gpus_per_node) {
  const auto place = [&](int rank) {
    return fmt::format("node {}, GPU {}", rank / gpus_per_node, rank % gpus_per_node);
  };
  if (ranks.size() == 1) return fmt::format("rank {} ({})", ranks.front(), place(ranks.front()));
  const std::vector<int> shown(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kNamed)));
  const std::string rest =
      ranks.size() > kNamed
          ? fmt::format(" and {} more", grouped(static_cast<std::int64_t>(ranks.size() - kNamed)))
          : "";
  return fmt::format("ranks {}{}", fmt::join(shown, ", "), rest);
}

/// What makes a straggler late, in words.
std::string reason(const Straggler& worst, bool alone) {
  const char* whose = alone ? "its" : "their";
  if (worst.stall * 2 > worst.late) return fmt::format("{} host stalls", whose);
  return fmt::format("{} kernels take {:.2f} times as long", whose, worst.factor);
}

}  // namespace

std::vector<Straggler> stragglers_of(const Timeline& timeline) {
  std::map<int, std::vector<Pace>> stages;
  const double steps = timeline.measured_steps();
  for (const RankPace& pace : timeline.paces) {
    const double stall = pace.stall / steps;
    stages[pace.stage].push_back({&pace, pace.work / steps + stall, stall});
  }
  const double from = timeline.step_start(static_cast<std::size_t>(timeline.warmup));
  const double step = (timeline.step_ends.back() - from) / steps;
  std::vector<Straggler> found;
  for (const auto& [stage, peers] : stages) add_stragglers(found, peers, step);
  std::ranges::stable_sort(found, std::greater{}, &Straggler::late);
  return found;
}

std::vector<int> ranks_of(const std::vector<Straggler>& stragglers) {
  std::vector<int> ranks;
  for (const Straggler& straggler : stragglers)
    ranks.insert(ranks.end(), straggler.ranks.begin(), straggler.ranks.end());
  std::ranges::sort(ranks);
  return ranks;
}

std::string straggler_sentence(const Metrics& m) {
  const std::vector<int> ranks = ranks_of(m.stragglers);
  const Straggler& worst = m.stragglers.front();
  const bool alone = ranks.size() == 1;
  const bool alike = m.stragglers.back().late > 0.999 * worst.late;
  const double gain = 1 - m.without_stragglers / m.step_time;
  std::string text = fmt::format(
      "{} {} {}{} a step late ({}); local, {} of {} ranks: ", named(ranks, m.gpus / m.nodes),
      alone ? "is" : "are", alike ? "" : "up to ", humanise(worst.late).text(),
      reason(worst, alone), grouped(static_cast<std::int64_t>(ranks.size())), grouped(m.gpus));
  if (gain < kWorthSaying / 10) return text + "nobody waits";
  return text +
         fmt::format("the other {} wait for {}; without {} the step would take {} ({:+.{}f} %)",
                     grouped(m.gpus - static_cast<int>(ranks.size())), alone ? "it" : "them",
                     alone ? "it" : "them", humanise(m.without_stragglers).text(), -100 * gain,
                     gain < 0.01 ? 1 : 0);
}

}  // namespace stepsim
