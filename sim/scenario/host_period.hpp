// How many steps it takes until all that the host does has come around.
#pragma once

#include <cstdint>
#include <numeric>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Steps after which a recompilation comes again; 0: never.
inline std::int64_t recompilation_period(const Scenario& s) {
  const Recompilation& r = *s.host.recompilation;
  if (r.when == NewShape::steps) return r.every;
  return s.data && s.training.global_batch > 0 ? s.data->samples / s.training.global_batch : 0;
}

/// Steps after which an event that comes every `every` steps or micro-batches meets the start of a
/// step again. A step has `micro_batches`.
inline std::int64_t steps_of(std::int64_t every, Per per, std::int64_t micro_batches) {
  return per == Per::step ? every : every / std::gcd(every, micro_batches);
}

/// Steps after which the host's reads come again. Passes are counted anew in each step.
inline std::int64_t steps_of(const Sync& sync, std::int64_t micro_batches) {
  if (sync.per == ReadPer::pass) return 1;
  return steps_of(sync.every, sync.per == ReadPer::step ? Per::step : Per::micro_batch,
                  micro_batches);
}

/// Steps after which all that the host does comes again, and what comes every `period` steps with
/// it; what would make that longer than `most` is left out.
inline int host_period(const Scenario& s, std::int64_t micro_batches, std::int64_t most,
                       std::int64_t period = 1) {
  const auto repeat = [&](std::int64_t steps) {
    if (steps > 0 && std::lcm(period, steps) <= most) period = std::lcm(period, steps);
  };
  if (s.host.sync) repeat(steps_of(*s.host.sync, micro_batches));
  for (const CpuWork& w : s.host.cpu_work) repeat(steps_of(w.every, w.per, micro_batches));
  if (s.host.recompilation) repeat(recompilation_period(s));
  if (s.host.garbage_collection) repeat(s.host.garbage_collection->every);
  return static_cast<int>(period);
}

}  // namespace stepsim
