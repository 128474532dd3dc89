// A real loader: threads that read and decode files, queues, and a loop that takes batches.
//
// As PyTorch's DataLoader (torch/utils/data/dataloader.py): a queue of batch numbers for each
// worker, one queue of results, batches handed over in order, and a new number for a worker
// whenever one is. The loop sleeps for a step after each batch, as a host does that waits for its
// GPU.
#pragma once

#include <functional>
#include <vector>

namespace stepsim {

struct RealSetting {
  int workers = 1;  ///< 0: the loop loads by itself
  int prefetch = 2;
  int batch = 4;  ///< samples
  int batches = 30;
  double step = 0;  ///< seconds that each batch is computed for
};

/// When each step ended, in seconds since the first batch was asked for. `load` reads and decodes
/// the sample with that number, on any thread.
std::vector<double> run_real(const RealSetting& setting,
                             const std::function<void(std::size_t sample)>& load);

}  // namespace stepsim
