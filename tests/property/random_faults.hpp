// Some of the faults that there are, given to some of the ranks of a cluster.
#pragma once

#include "tests/property/random_scenario.hpp"

namespace stepsim {

inline Faults random_faults(Picker& pick, const Cluster& cluster) {
  Faults faults;
  const int last = cluster.gpus() - 1;
  if (pick.flip()) {
    faults.slow_gpus.push_back({.who = {.ranks = {pick.between(0, last)}},
                                .factor = 1 + pick.between(0, 5) / 10.0,
                                .delay = Seconds{pick.between(1, 9) * 1e-3}});
  }
  if (cluster.inter_node && cluster.nodes > 1 && pick.flip()) {
    SlowLinks slow{.who = {.nodes = {pick.between(0, cluster.nodes - 1)}}, .factor = 0.25};
    if (pick.flip()) {
      slow.from = Seconds{1e-3};
      slow.until = Seconds{3e-3};
      slow.period = Seconds{7e-3};
    }
    faults.slow_links.push_back(slow);
  }
  const auto jitter = [&] {
    return Jitter{.spread = {.sigma = 0.1},
                  .per = pick.flip() ? DrawPer::call : DrawPer::step,
                  .who = {.ranks = {pick.between(0, last), pick.between(0, last)}}};
  };
  if (pick.flip()) faults.kernels = jitter();
  if (pick.flip()) faults.collectives = jitter();
  return faults;
}

}  // namespace stepsim
