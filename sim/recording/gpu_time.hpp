// What a GPU does in a window: how long it is busy, computes, communicates and copies.
#pragma once

#include <string_view>
#include <vector>

#include "sim/recording/interval_set.hpp"
#include "sim/recording/kernel_kinds.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

/// The kind of each name's kernels, by its index in Recording::names.
using KindByName = std::vector<KernelKind>;
KindByName kinds_of_names(const Recording& recording, const KernelKinds& kinds);

/// When the GPU does what, on any stream.
struct GpuRows {
  IntervalSet busy;           ///< anything
  IntervalSet compute;        ///< kernels that do not communicate
  IntervalSet communication;  ///< kernels that do
  IntervalSet copies;         ///< copies and memsets
};
GpuRows gpu_rows(const Recording& recording, const KindByName& kinds);

/// Lengths within a window.
struct GpuTime {
  Nanoseconds busy = 0, compute = 0, communication = 0, copies = 0;
  Nanoseconds communication_and_compute = 0;  ///< both at the same time
  /// Communication while nothing computes; a gap that nothing waited for counts, too.
  Nanoseconds exposed_communication() const { return communication - communication_and_compute; }
  /// Copies while nothing else runs.
  Nanoseconds copies_alone() const { return busy - compute - exposed_communication(); }
};
GpuTime gpu_time(const GpuRows& rows, Interval window);

/// Whether a copy, by its name, is from the host to the GPU, or from the GPU to the host: "Memcpy
/// HtoD (Pinned -> Device)", "CopyHostToDevice", "[CUDA memcpy Host-to-Device]".
bool copies_to_gpu(std::string_view name);
bool copies_from_gpu(std::string_view name);

/// Whether an activity communicates.
bool communicates(const GpuActivity& activity, const KindByName& kinds);

}  // namespace stepsim
