// The input pipeline of a rank as tasks and edges: read, decode, deliver in order, copy to the GPU.
//
// PyTorch's DataLoader (torch/utils/data/dataloader.py): batch j comes from worker j mod W; a
// worker starts on batch j when batch j - W * prefetch has been handed to the training loop;
// batches are delivered in order, so that one slow worker holds up all others. Without workers the
// training process loads by itself.
#pragma once

#include <vector>

#include "sim/plan/program_writer.hpp"
#include "sim/plan/segment.hpp"

namespace stepsim {

class InputRows {
 public:
  InputRows(Workshop& shop, ProgramWriter& writer, std::uint16_t host_row);

  /// The training loop asks for its next batch. Returns the copy that compute must wait for.
  TaskIndex fetch(int micro_batch);

 private:
  TaskIndex load(const std::vector<TaskIndex>& after, int micro_batch);

  Workshop& shop_;
  ProgramWriter& writer_;
  const Input& input_;
  std::uint16_t host_row_;
  std::uint16_t copy_row_;
  std::vector<std::uint16_t> loader_rows_;
  std::vector<TaskIndex> delivered_;  ///< by batch
};

}  // namespace stepsim
