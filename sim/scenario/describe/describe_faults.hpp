// The keys of faults (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/faults.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"

namespace stepsim {

template <class Io>
void describe_affected(Io& io, Affected& a) {
  io.field("ranks", a.ranks, between(0, 1e9), "these, of all");
  io.field("nodes", a.nodes, between(0, 1e6), "all ranks of these nodes");
  io.field("fraction", a.fraction, any_fraction,
           "of these, or of all, drawn at random from run.seed");
}

template <class Io>
void describe(Io& io, SlowGpus& s) {
  describe_affected(io, s.who);
  io.field("factor", s.factor, between(0.01, 1e4), "time of their kernels over that of others");
  io.field("delay", s.delay, between(0, 3600),
           "their hosts stall that long at the start of each step");
}

template <class Io>
void describe(Io& io, SlowLinks& s) {
  io.field("links", s.links, any, "such as \"node 3 nic 0 up\"; `*` stands for anything");
  io.field("ranks", s.who.ranks, between(0, 1e9), "also the NICs of these");
  io.field("nodes", s.who.nodes, between(0, 1e6), "also all NICs of these");
  io.field("fraction", s.who.fraction, any_fraction,
           "of these links, or of all NICs, drawn at random from run.seed; both directions of a "
           "link together");
  io.field("factor", s.factor, required(any_share), "bandwidth that is left; 0: the link is down");
  io.field("from", s.from, any_duration, "since the first step began, warm-up included");
  io.field("until", s.until, any_duration, "absent: for good");
  io.field("period", s.period, any_duration,
           "the link flaps: it is slow again each time this has passed; absent: once");
}

template <class Io>
void describe(Io& io, Jitter& j) {
  io.field("distribution", j.distribution, any, "a name of `stepsim list distributions`");
  io.field("mean", j.spread.mean, between(0.01, 100),
           "of the factors that durations are multiplied by");
  io.field("sigma", j.spread.sigma, between(0, 10), "standard deviation, in units of the mean");
  io.field("values", j.spread.values, positive, "empirical: what was measured, in any unit");
  io.field("per", j.per, any,
           "what gets a draw of its own: each kernel or collective, all of a step, all of the run");
  describe_affected(io, j.who);
}

template <class Io>
void describe(Io& io, Faults& f) {
  io.list("slow_gpus", f.slow_gpus, "ranks that are slower than others, or late");
  io.list("slow_links", f.slow_links, "links that lost bandwidth, for good or for a while");
  io.group("jitter", "durations that vary", [&](auto& jitter) {
    jitter.section("kernels", f.kernels, Jitter{}, "of each rank");
    jitter.section("collectives", f.collectives, Jitter{}, "of each group, transfers included");
  });
  io.field("gpu_spread", f.gpu_spread, between(0, 0.2),
           "standard deviation of the speed of GPUs of one type, instead of the profile's; the job "
           "runs at the pace of its slowest, as is to be expected of so many; 0: all alike");
}

}  // namespace stepsim
