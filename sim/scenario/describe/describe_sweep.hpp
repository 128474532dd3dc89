// The keys of a sweep's file (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, RandomPoints& r) {
  io.field("points", r.points, required(between(1, 1e7)), "how many");
  io.field("seed", r.seed, any, "another one draws others");
}

template <class Io>
void describe(Io& io, SweepFile& f) {
  io.verbatim("scenario", f.scenario, required(), "what is varied: a path to a .yaml, or a map");
  io.verbatim("axes", f.axes, required(),
              "path: values; several paths with commas between them are linked");
  io.field("where", f.where, any, "conditions that points have to meet: tensor * pipeline <= 64");
  io.section("random", f.random, RandomPoints{}, "a part of the grid instead of all of it");
  io.field("objective", f.objective, any, "what is best: see `stepsim sweep --help`");
}

}  // namespace stepsim
