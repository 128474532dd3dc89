// Kernels that only move bytes: t = sqrt(latency^2 + (bytes / rate)^2), one rate a class and one
// latency for all (sim/cluster/kernel_time.hpp). A p-norm of 2 fits streams of short kernels better
// than a sum does: work of one kernel begins before the one before it has ended.
#pragma once

#include <cstdint>
#include <map>

#include "sim/fit/sample.hpp"

namespace stepsim::fit {

/// The classes that were measured, and what they share.
struct MemoryConstants {
  Seconds latency;
  bool latency_shown = false;  ///< some kernels were short enough to fit it
  std::map<MemoryRate, BytesPerSecond> rates;
};

/// The profile's rate of a class.
BytesPerSecond& rate_in(MemoryProfile& profile, MemoryRate rate);

/// Least mean |log(modelled / measured)|, which one outlier moves little. Where no class has
/// kernels that are short enough to show a latency, it stays `latency`. REQUIRES: samples of
/// MemoryBound, at least one.
MemoryConstants fit_memory(const Samples& samples, Seconds latency);

/// `base` with these constants.
MemoryProfile with_constants(MemoryProfile base, const MemoryConstants& constants);

}  // namespace stepsim::fit
