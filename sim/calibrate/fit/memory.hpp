// Kernels that only move bytes: t = sqrt(latency^2 + (bytes / rate)^2), one rate a class and one
// latency for all (sim/cluster/kernel_time.hpp). A p-norm of 2 fits streams of short kernels better
// than a sum does: work of one kernel begins before the one before it has ended. Where rows of many
// lengths were measured, the longest that is read once comes with the rate of its class. Where a
// kernel was timed together with its launch, that is a constant of the class on top; no profile has
// it.
#pragma once

#include <map>

#include "sim/calibrate/fit/sample.hpp"

namespace stepsim::fit {

/// The classes that were measured, and what they share.
struct MemoryConstants {
  Seconds latency;
  bool latency_shown = false;  ///< some kernels were short enough to fit it
  std::map<MemoryRate, BytesPerSecond> rates;
  std::map<MemoryRate, Bytes> kept_rows;  ///< for classes with rows of three lengths or more
  std::map<MemoryRate, Seconds>
      launches;  ///< for classes with samples that have a launch in their time
};

/// Least mean |log(modelled / measured)|, which one outlier moves little; the large samples of a
/// class together weigh as much as its others, which caches serve in part. What the samples do not
/// show is as in `base`. REQUIRES: samples of MemoryBound, at least one.
MemoryConstants fit_memory(const Samples& samples, const MemoryProfile& base);

/// `base` with these constants.
MemoryProfile with_constants(MemoryProfile base, const MemoryConstants& constants);

/// Errors on samples that may have launches in them.
Errors memory_errors(const MemoryProfile& profile, const std::map<MemoryRate, Seconds>& launches,
                     const Samples& samples);

}  // namespace stepsim::fit
