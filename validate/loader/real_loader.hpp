// A real loader: threads that read and decode files, queues, and a loop that takes batches.
//
// It works as PyTorch's DataLoader does (torch/utils/data/dataloader.py): each worker has a queue
// of batch numbers, there is one queue of results, batches are handed over in order, and with each
// a worker gets a new number. The loop sleeps for a step after each batch, as a host does that
// waits for its GPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace stepsim {

struct RealSetting {
  int workers = 1;  ///< 0: the loop loads by itself
  int prefetch = 2;
  int batch = 4;  ///< samples of a batch
  int batches = 30;
  double step = 0;  ///< seconds for which each batch is computed
};

/// The loader without the loop. `load` reads and decodes the sample with that number, on any
/// thread. Workers begin at once.
class RealLoader {
 public:
  RealLoader(const RealSetting& setting, std::function<void(std::size_t sample)> load);
  ~RealLoader();
  RealLoader(const RealLoader&) = delete;
  RealLoader& operator=(const RealLoader&) = delete;

  /// Waits for the next batch, or loads it. What `load` keeps of a batch has to outlive the batches
  /// in flight: this call asks for a new batch, workers x prefetch behind the one that it returns.
  void next();

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

/// Runs a loop over the loader. Returns when each step ended, in seconds since the first batch was
/// asked for.
std::vector<double> run_real(const RealSetting& setting,
                             const std::function<void(std::size_t sample)>& load);

}  // namespace stepsim
