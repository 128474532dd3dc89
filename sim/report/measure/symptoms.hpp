// What a person would see in a profile of the step, and what it usually means.
//
// Each symptom is found in the rows of the rank that works most, as one would look at its trace:
// where its compute row is idle, for how long, and what its other rows do meanwhile.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct Symptom {
  std::string name;      ///< "late_start", as JSON spells it
  std::string title;     ///< "the GPU is idle before the first kernel"
  std::string evidence;  ///< how much of what was seen
  std::string suspect;   ///< what the symptom usually means
  Seconds seconds{};     ///< time of a mean step; 0: it has no length
};

/// Symptoms that take at least 5 % of the measured steps, in this order:
///   late_start       idle before a step's first kernel: input, or its copy to the GPU
///   loss_gap         idle between forward and backward while the CPU works: a loss on the CPU, a
///                    recompilation
///   busy_host        idle elsewhere while the CPU works on something of its own: a loss, a
///                    recompilation or garbage collection
///   others_pause     the critical path has work of other ranks' hosts
///   launch_gaps      idle between kernels while the host launches: blocking launches, anomaly
///                    detection, small kernels, busy cores
///   starvation       idle while the CPU is idle, too: no batch is there
///   long_tail        gradients are still on their way after backward: the all-reduce, its buckets,
///                    the topology
///   spikes           some steps take over 10 % longer than the median: checkpoints, storage, noise
///   slow_rank        others wait for a rank: a straggler
///   shallow_prefetch with N workers the GPU waits for every N-th batch alone
std::vector<Symptom> symptoms_of(const Timeline& timeline, const Metrics& metrics);

}  // namespace stepsim
