// A real loader: threads that read and decode files, queues, and a loop that takes batches.
//
// As PyTorch's DataLoader (torch/utils/data/dataloader.py): a queue of batch numbers for each
// worker, one queue of results, batches handed over in order, and a new number for a worker
// whenever one is. The loop sleeps for a step after each batch, as a host does that waits for its
// GPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace stepsim {

struct RealSetting {
  int workers = 1;  ///< 0: the loop loads by itself
  int prefetch = 2;
  int batch = 4;  ///< samples
  int batches = 30;
  double step = 0;  ///< seconds that each batch is computed for
};

/// The loader alone. `load` reads and decodes the sample with that number, on any thread; workers
/// begin at once.
class RealLoader {
 public:
  RealLoader(const RealSetting& setting, std::function<void(std::size_t sample)> load);
  ~RealLoader();
  RealLoader(const RealLoader&) = delete;
  RealLoader& operator=(const RealLoader&) = delete;

  /// Waits for the next batch, or loads it. What `load` keeps of a batch has to outlive those in
  /// flight: a new batch is asked for here, workers x prefetch behind this one.
  void next();

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

/// When each step ended, in seconds since the first batch was asked for.
std::vector<double> run_real(const RealSetting& setting,
                             const std::function<void(std::size_t sample)>& load);

}  // namespace stepsim
