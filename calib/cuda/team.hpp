// Several GPUs of this machine that work together, with a host thread each, as nccl-tests' -t runs
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "calib/cuda/handles.hpp"
#include "sim/calibrate/measurement/point_words.hpp"

struct ncclComm;

namespace stepsim::calib::cuda {

/// The place of one GPU in a team, on the thread that has it as its current device.
struct Member {
  int rank = 0, size = 1;
  ncclComm* communicator = nullptr;  ///< null in a team of one
};

class Team {
 public:
  /// A team whose first GPU is number `first`. Further members are the GPUs after it, and begin
  /// again at 0.
  Team(int first, int gpus) : first_(first), gpus_(gpus) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Runs `work` on `size` GPUs at the same time and gives what each returns. The first exception
  /// is thrown when all have ended. Throws NotOffered without NCCL.
  std::vector<std::vector<double>> run(
      int size, const std::function<std::vector<double>(const Member&)>& work);

  /// Returns when each of `size` members has called it. REQUIRES: no member has failed.
  void meet();

 private:
  const std::vector<ncclComm*>& communicators(int size);
  /// Aborts all communicators, because kernels that wait for a member that failed would wait for
  /// ever.
  static void abort(const std::vector<ncclComm*>& communicators);

  int first_, gpus_;
  std::map<int, std::vector<ncclComm*>> communicators_;
  struct Meeting;
  std::shared_ptr<Meeting> meeting_;
};

/// Enqueues one collective of `bytes` (nccl-tests size) in bf16. `send` and `receive` have room for
/// `bytes` each.
void enqueue_collective(CollectiveOp op, const Member& member, const DeviceBuffer& send,
                        const DeviceBuffer& receive, std::int64_t bytes, cudaStream_t stream);

}  // namespace stepsim::calib::cuda
