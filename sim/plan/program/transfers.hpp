// Transfers between stages: activations to the stage with the next part, their gradients back.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/plan/program/tensor_ranks.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

class Transfers {
 public:
  Transfers(RankRows& rows, const Placement& placement);

  /// Hands the result of the pass on, if another stage takes it; returns the task that does, else
  /// kNoTask.
  TaskIndex send(const Action& action);

  /// Asks for the input of that pass; returns the task that brings it, if another stage sends it,
  /// else kNoTask.
  TaskIndex receive(const Action& action);

  /// Behind an exchange of these tasks, some of which may be kNoTask: with batch_p2p_sync the host
  /// stops until they, and all kernels, are done (torch.cuda.synchronize).
  void synchronize(std::vector<TaskIndex> exchanged);

  /// Where tensor ranks receive 1/t each they gather the whole right before its pass: any earlier,
  /// and the gather would stand on the tensor row before collectives of the pass that still runs.
  TaskIndex gathered(TaskIndex received, int micro_batch);

 private:
  Bytes message() const;
  std::uint32_t operation(Channel channel);
  Channel channel_between(int stage, int next, bool forward) const;

  RankRows& rows_;
  const Placement& placement_;
  const Scenario& scenario_;
  const Pipeline& pipeline_;
  const StageShape& shape_;
  std::array<std::optional<std::uint32_t>, kTransferChannels> operations_;
  TensorRanksGather gather_;  ///< gathers a message that comes in parts
};

}  // namespace stepsim
