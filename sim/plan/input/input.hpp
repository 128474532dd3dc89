// The input pipeline of a rank as tasks and edges: read, decode, pin, deliver in order, copy to the
// GPU.
//
// PyTorch's DataLoader (torch/utils/data/dataloader.py): batch j of an epoch comes from worker
// j mod W; a worker starts on batch j when batch j - W * prefetch has been handed to the training
// loop; one thread pins batches (as all cost the same, they are ready in order); batches are
// delivered in order, so that one slow worker holds up all others. Each epoch starts with empty
// queues when the loop asks for its first batch, and with new workers unless they persist. Without
// workers the training process loads by itself.
#pragma once

#include <vector>

#include "sim/plan/input/input_cost.hpp"
#include "sim/plan/program/plan_draft.hpp"
#include "sim/plan/program/program_writer.hpp"

namespace stepsim {

class InputRows {
 public:
  InputRows(PlanDraft& draft, ProgramWriter& writer, std::uint16_t host_row);

  /// Adds the tasks by which the training loop asks for its next batch. Returns the copy that
  /// compute must wait for.
  TaskIndex fetch(int micro_batch);

  /// Adds, after the last step, the loading of batches that workers were asked for and nobody waits
  /// for.
  void leave();

  /// Time on the GPU for each batch, once it is copied.
  Seconds gpu_time() const { return cost_.gpu; }

 private:
  /// Adds the tasks from the request of a batch until it is ready to be delivered.
  TaskIndex load(std::vector<TaskIndex> after, int micro_batch);
  /// What a worker waits for before it starts on a batch.
  TaskIndex asked_for(std::size_t batch) const;
  std::size_t in_flight() const {
    return static_cast<std::size_t>(input_.workers) * static_cast<std::size_t>(input_.prefetch);
  }
  TaskIndex read(Lane lane, double amount, const char* name, const std::vector<TaskIndex>& after,
                 Task task);
  TaskIndex timer(Seconds time, const char* name, const std::vector<TaskIndex>& after, Task task);
  TaskIndex pin(TaskIndex loaded, int micro_batch);
  TaskIndex copy(int micro_batch);
  void begin_epoch(int micro_batch);
  Task wait_task(const char* name, int micro_batch) const;

  PlanDraft& draft_;
  ProgramWriter& writer_;
  const Input& input_;
  const std::size_t epoch_batches_;  ///< batches of one epoch; 0: epochs never end
  int epoch_;
  BatchCost cost_;
  std::uint16_t host_row_;
  std::uint16_t copy_row_;
  std::uint16_t pin_row_ = 0;
  std::vector<std::uint16_t> loader_rows_;
  std::vector<TaskIndex> delivered_;          ///< the delivery of each batch of the epoch
  TaskIndex began_ = ProgramWriter::kNoTask;  ///< the begin of the epoch
};

}  // namespace stepsim
