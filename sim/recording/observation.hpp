// What a recording shows of one rank: where its steps go, why its GPU is idle, what it cannot tell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/recording/breakdown.hpp"
#include "sim/recording/communication_call.hpp"
#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/kernel_kinds.hpp"
#include "sim/recording/late_sites.hpp"
#include "sim/recording/launch_pace.hpp"
#include "sim/recording/products/products.hpp"
#include "sim/recording/ranks/own_work.hpp"
#include "sim/recording/recording.hpp"
#include "sim/recording/typical_step.hpp"

namespace stepsim {

struct ObservedStep {
  std::string name;
  Interval window;
  GpuTime gpu;                    ///< within the step's window on the host
  Nanoseconds launched_busy = 0;  ///< busy with what the step launched, whenever that is
};

/// Kernels of one kind or name within the window. Their seconds are sums: kernels that run beside
/// each other count each.
struct KernelTime {
  std::string name;
  KernelKind kind = KernelKind::unknown;
  std::size_t calls = 0;
  double seconds = 0;
};

/// Copies of one direction and kind of memory, within the window.
struct CopyTime {
  std::string name;  ///< "Memcpy HtoD (Pinned -> Device)"
  std::size_t calls = 0;
  double seconds = 0, bytes = 0;  ///< 0 bytes: not recorded
};

/// A gap in which the host was late, with the name of what followed.
struct ObservedGap {
  double at_s = 0;  ///< seconds since the window began
  double seconds = 0;
  double late_s = 0;  ///< seconds until the launch call of what followed began
  std::string before;
};

struct Observation {
  std::string file, format, device, backend;
  std::size_t number = 0;   ///< of the recording in its file
  bool is_of_core = false;  ///< the device is a core of a CPU
  bool is_cut = false;      ///< the file ends before its text does
  std::optional<int> rank, world_size;
  Interval window;
  GpuTime gpu;
  IdleTime idle;
  std::vector<ObservedStep> steps;
  std::vector<KernelTime> kinds;    ///< by time, the most first
  std::vector<KernelTime> kernels;  ///< the 10 names that take most
  std::vector<ObservedGap> late_gaps;
  std::vector<CopyTime> copies;  ///< the most time first
  std::size_t activities = 0;    ///< of the GPU, within the window
  double compute_kernels = 0;    ///< kernels that do not communicate, within the window
  std::optional<RecordedMemory> memory;
  Products products;    ///< of the window, where sizes were recorded
  Breakdown breakdown;  ///< of the window
  std::vector<LateSite> late_sites;
  RankCommunication communication;
  OwnWorkSets own_work;
  LaunchPace launch_pace;              ///< of the window; of a GPU
  TypicalStep typical;                 ///< of a core
  std::vector<std::string> not_known;  ///< sentences

  Nanoseconds idle_length() const { return window.length() - gpu.busy; }
};

/// All that follows from one recording by itself, and from the profile of its GPU; nullptr: there is
/// none.
Observation observe(const Recording& recording, const KernelKinds& kinds,
                    const GpuProfile* gpu = nullptr);

}  // namespace stepsim
