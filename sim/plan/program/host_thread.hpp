// What the thread that launches does besides: it reads values back, computes a loss, compiles,
// collects garbage. All of it are tasks on the host row, and waits of the host for other tasks.
#pragma once

#include <array>
#include <vector>

#include "sim/plan/program/rank_rows.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

class HostThread {
 public:
  /// `actions`: the passes of a step.
  HostThread(RankRows& rows, const Placement& placement, const std::vector<Action>& actions);

  void begin_step(int step);
  /// Before the pass is launched, and after.
  void before(const Action& action);
  void after(const Action& action);
  /// After the optimizer. Marks the step's end: the host waits for it where it reads a value back
  /// or works on what the GPU has done; otherwise it runs ahead.
  void end_step();

 private:
  /// What CPU work may follow: a forward pass with the loss, or all that a stage does backward for
  /// a micro-batch.
  enum Milestone : std::size_t { forward, backward, none };
  Milestone milestone(const Action& action) const;
  /// Whether the loss of the pass's micro-batch is computed on this rank.
  bool has_loss(const Action& action) const;
  /// The number of the pass's micro-batch, counted over all steps.
  int number_of(const Action& action) const;
  bool is_due(const CpuWork& work, Milestone reached, const Action& action) const;
  /// What the host does with the batch of a forward pass.
  void take_batch(const Action& action);
  void do_work(const CpuWork& work, const std::vector<TaskIndex>& input);
  void read_value(const std::vector<TaskIndex>& value);
  bool reads_at_end() const;

  RankRows& rows_;
  const Scenario& scenario_;
  const Host& host_;
  const Placement& placement_;
  const double slowdown_;
  const int copy_chunks_;  ///< chunks of a stage in each copy of the model
  int step_ = 0;
  std::array<int, 2> of_step_{};  ///< milestones of a step, by kind
  std::array<int, 2> passed_{};   ///< milestones in this step, by kind
  int inputs_ = 0;                ///< forward passes in this step
  int batches_ = 0;               ///< forward passes in this step that take a batch
  int passes_ = 0;                ///< passes of any kind in this step
  bool compiled_ = false;         ///< whether a pass was, in this step
};

}  // namespace stepsim
