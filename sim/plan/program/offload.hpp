// An optimizer on the CPU (ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840): gradients go to its
// memory as their buckets are reduced, beside what the GPU does next (DeepSpeed
// runtime/zero/stage_1_and_2.py, async_inplace_copy_grad_to_fp32_buffer_from_gpu); then the CPU
// updates, and the weights come back.
#pragma once

#include "sim/plan/pass/chains.hpp"
#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

class Offload {
 public:
  explicit Offload(RankRows& rows) : rows_(rows) {}

  /// A collective of a pass has been written: what it has reduced leaves.
  void after(Channel channel, std::uint32_t operation, TaskIndex task);
  /// The rest of so many gradients leaves; the CPU updates; the next kernel waits for the weights.
  void update(double elements);

 private:
  TaskIndex timed(std::uint16_t& row, const char* name, Seconds time,
                  const std::vector<TaskIndex>& after);

  RankRows& rows_;
  std::uint16_t gradients_row_ = 0, cpu_row_ = 0, weights_row_ = 0;  ///< 0 (the host's): none yet
  Bytes left_;  ///< gradients of this step that have left
};

}  // namespace stepsim
