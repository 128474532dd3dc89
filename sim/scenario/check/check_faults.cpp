// The sentences about faults.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

/// The members of a list that are not below `count`, as an error: "rank 9".
void check_members(const std::string& path, const char* title, const std::vector<int>& members,
                   int count, const char* counted, const KeyReports& keys) {
  const auto beyond = std::ranges::find_if(members, [&](int member) { return member >= count; });
  if (beyond == members.end()) return;
  keys.report({path}, "{} {}, but the cluster has {} {}, from 0 on", title, *beyond, count,
              counted);
}

/// How many ranks are meant before a fraction is drawn of them.
int candidates(const Affected& who, const Cluster& cluster) {
  if (who.ranks.empty() && who.nodes.empty()) return cluster.gpus();
  std::vector<int> ranks = who.ranks;
  for (const int node : who.nodes) {
    for (int gpu = 0; gpu < cluster.gpus_per_node; ++gpu)
      ranks.push_back(node * cluster.gpus_per_node + gpu);
  }
  std::ranges::sort(ranks);
  return static_cast<int>(std::unique(ranks.begin(), ranks.end()) - ranks.begin());
}

void check_affected(const std::string& path, const Affected& who, const Cluster& cluster,
                    const KeyReports& keys) {
  check_members(path + ".ranks", "rank", who.ranks, cluster.gpus(), "GPUs", keys);
  check_members(path + ".nodes", "node", who.nodes, cluster.nodes, "nodes", keys);
  const int ranks = candidates(who, cluster);
  if (!who.fraction || std::llround(*who.fraction * ranks) > 0) return;
  keys.report({path + ".fraction", fmt::format("state at least {:.2g} %", 100.0 / ranks)},
              "{:g} % of {} GPUs is none", 100 * *who.fraction, ranks);
}

void check_slow_gpus(const Scenario& s, const KeyReports& keys) {
  for (std::size_t i = 0; i < s.faults.slow_gpus.size(); ++i) {
    const SlowGpus& slow = s.faults.slow_gpus[i];
    const std::string path = fmt::format("faults.slow_gpus[{}]", i);
    if (slow.who.all()) {
      keys.report({path, "state ranks, nodes or fraction; 100 % is all of them"},
                  "it is not said which GPUs are slow");
    }
    if (slow.factor == 1 && slow.delay == Seconds{0})
      keys.report({path, "state factor or delay"}, "nothing makes these GPUs slow");
    check_affected(path, slow.who, s.cluster, keys);
  }
}

constexpr double kLeastLeft = 1e-6;
/// Each window is two events on its links; faster than this they would be all that is simulated.
constexpr Seconds kLeastPeriod = 100_us;

void check_window(const std::string& path, const SlowLinks& slow, const KeyReports& keys) {
  if (slow.until && *slow.until <= slow.from) {
    keys.report({path + ".until"}, "until {:g} s is not after from {:g} s", slow.until->seconds(),
                slow.from.seconds());
  }
  if (!slow.until && slow.factor == 0) {
    keys.report({path + ".factor", "state until"},
                "a link that is down for good: the step would never end");
  }
  if (slow.factor > 0 && slow.factor < kLeastLeft) {
    keys.report({path + ".factor", "state at least 1e-6, or 0 and until for a link that is down"},
                "factor {:g} leaves next to nothing of the link", slow.factor);
  }
  if (!slow.period) return;
  if (*slow.period < kLeastPeriod) {
    keys.report({path + ".period", "state at least 100 us, or that average as factor"},
                "a link that flaps every {:g} s is slow on average", slow.period->seconds());
  } else if (!slow.until) {
    keys.report({path + ".period", "state until"}, "a link that is slow for good cannot flap");
  } else if (*slow.period <= *slow.until - slow.from) {
    keys.report({path + ".period"}, "windows of {:g} s every {:g} s leave nothing between them",
                (*slow.until - slow.from).seconds(), slow.period->seconds());
  }
}

void check_slow_links(const Scenario& s, const KeyReports& keys) {
  for (std::size_t i = 0; i < s.faults.slow_links.size(); ++i) {
    const SlowLinks& slow = s.faults.slow_links[i];
    const std::string path = fmt::format("faults.slow_links[{}]", i);
    if (slow.links.empty() && slow.who.all()) {
      keys.report({path, "state links, or ranks, nodes or fraction for NICs"},
                  "it is not said which links are slow");
    }
    check_members(path + ".ranks", "rank", slow.who.ranks, s.cluster.gpus(), "GPUs", keys);
    check_members(path + ".nodes", "node", slow.who.nodes, s.cluster.nodes, "nodes", keys);
    check_window(path, slow, keys);
  }
}

void check_jitter(const char* path, const Jitter& jitter, const Cluster& cluster,
                  const KeyReports& keys) {
  check_affected(path, jitter.who, cluster, keys);
  check_distribution(path, jitter.distribution, jitter.spread, keys);
}

}  // namespace

void check_distribution(const std::string& at, const std::string& name, const Spread& spread,
                        const KeyReports& keys) {
  keys.check_name((at + ".distribution").c_str(), name, Registry<Distribution>::names(),
                  "a distribution");
  const Distribution* distribution = Registry<Distribution>::find(name);
  if (distribution == nullptr) return;
  if (distribution->takes_sigma && spread.sigma <= 0) {
    keys.report({at + ".sigma", "state the standard deviation, as in \"sigma: 5 %\""},
                "{} needs a sigma", distribution->name);
  }
  // Judgement: nobody measures durations to a millionth, and the square of less is lost to rounding.
  constexpr double kLeastSigma = 1e-6;
  if (distribution->takes_sigma && spread.sigma > 0 && spread.sigma < kLeastSigma)
    keys.report({at + ".sigma", "leave it out where nothing varies"},
                "a standard deviation of {:g} of the mean, less than {:g}, is none", spread.sigma,
                kLeastSigma);
  if (distribution->takes_sigma && !spread.values.empty())
    keys.report({at + ".values", "use distribution: empirical"}, "{} takes no values",
                distribution->name);
  if (!distribution->takes_sigma && spread.values.empty())
    keys.report({at + ".values", "state what was measured, as in \"values: [0.98, 1, 1.07]\""},
                "{} needs values", distribution->name);
  if (!distribution->takes_sigma && spread.sigma > 0)
    keys.report({at + ".sigma"}, "{} has the deviation of its values", distribution->name);
  if (distribution->most_sigma > 0 && spread.sigma > distribution->most_sigma) {
    keys.report({at + ".sigma", fmt::format("state at most {:.3g} %, or use lognormal or gamma",
                                            100 * distribution->most_sigma)},
                "with sigma {:g} %, {} durations would be negative", 100 * spread.sigma,
                distribution->name);
  }
}

void check_faults(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"faults", "cluster"})) return;
  check_slow_gpus(s, keys);
  check_slow_links(s, keys);
  if (s.faults.kernels) check_jitter("faults.jitter.kernels", *s.faults.kernels, s.cluster, keys);
  if (s.faults.collectives)
    check_jitter("faults.jitter.collectives", *s.faults.collectives, s.cluster, keys);
  const bool random = s.faults.random() || (s.data && s.data->variation);
  if (s.run.replicas > 1 && !random && keys.sound({"run.replicas"})) {
    keys.report({"run.replicas", "state faults.jitter, or a fraction, or data.variation"},
                "{} replicas would all be alike: nothing is random", s.run.replicas);
  }
}

}  // namespace stepsim
