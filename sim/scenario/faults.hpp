// What is not as it should be: slow GPUs, slow links, durations that vary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/distribution.hpp"
#include "sim/core/quantity.hpp"

namespace stepsim {

/// Ranks that something happens to: the listed ones and all of the listed nodes, or all where
/// nothing is listed; with `fraction` a share of them, drawn at random.
struct Affected {
  std::vector<int> ranks, nodes;
  std::optional<double> fraction;
  bool all() const { return ranks.empty() && nodes.empty() && !fraction; }
  bool operator==(const Affected&) const = default;
};

/// GPUs that compute slowly, or whose hosts stall.
struct SlowGpus {
  Affected who;
  double factor = 1;  ///< time of their kernels over that of others
  Seconds delay;      ///< their hosts stall that long at the start of each step
  bool operator==(const SlowGpus&) const = default;
};

/// Links by name and NICs by their ranks and nodes, or all NICs where nothing is listed; with a
/// fraction a share of them, drawn at random.
struct SlowLinks {
  std::vector<std::string> links;  ///< `*` stands for anything
  Affected who;
  double factor = 1;              ///< bandwidth that is left
  Seconds from;                   ///< since the first step began
  std::optional<Seconds> until;   ///< absent: for good
  std::optional<Seconds> period;  ///< between two such windows; absent: there is one
  bool operator==(const SlowLinks&) const = default;
};

/// What gets a draw of its own: each kernel or collective, all of one step, or all of the run.
enum class DrawPer { call, step, run };

/// Durations are multiplied by draws from a distribution.
struct Jitter {
  std::string distribution = "lognormal";  ///< a name of `stepsim list distributions`
  Spread spread;
  DrawPer per = DrawPer::call;
  Affected who;
  bool operator==(const Jitter&) const = default;
};

/// All that is slow or varies.
struct Faults {
  std::vector<SlowGpus> slow_gpus;
  std::vector<SlowLinks> slow_links;
  std::optional<Jitter> kernels;      ///< drawn by each rank for itself
  std::optional<Jitter> collectives;  ///< drawn by each group
  std::optional<double> gpu_spread;   ///< absent: the GPU profile's; 0: all equally fast
  bool random() const;                ///< whether another seed gives another run
  bool operator==(const Faults&) const = default;
};

inline bool Faults::random() const {
  for (const SlowGpus& slow : slow_gpus)
    if (slow.who.fraction) return true;
  for (const SlowLinks& slow : slow_links)
    if (slow.who.fraction) return true;
  return kernels || collectives;
}

}  // namespace stepsim
