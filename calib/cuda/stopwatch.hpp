// Times work on a stream: warm-up, then samples between events, in a graph or launch by launch.
#pragma once

#include <functional>

#include <cuda_runtime_api.h>

#include "sim/calibrate/measurement/timing.hpp"

namespace stepsim::calib::cuda {

/// Enqueues `count` launches on the stream, turning through sets of buffers from the first one on.
using Batch = std::function<void(cudaStream_t stream, int count)>;

enum class Through {
  graph,    ///< the GPU starts launch after launch by itself: as busy a stream as there can be
  launches  ///< the host launches each kernel
};

struct StopwatchSettings {
  int turns = 1;  ///< sets of buffers, each of which is used in every sample
  Through through = Through::graph;
  double warm_up_s = 0.05;  ///< seconds of warm-up, in which clocks rise
};

/// The seconds of one launch in a row of many.
Timing time_batch(const Batch& batch, const StopwatchSettings& settings);

}  // namespace stepsim::calib::cuda
