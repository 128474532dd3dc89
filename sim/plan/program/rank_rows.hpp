// The rows of one rank, as a training loop fills them: kernels, collectives, waits of the host.
//
// What the next kernel has to wait for is collected (`wait_for`) until it is written.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/program/plan_draft.hpp"
#include "sim/plan/program/program_writer.hpp"

namespace stepsim {

class RankRows {
 public:
  RankRows(PlanDraft& draft, const StageShape& shape);

  PlanDraft& draft() { return draft_; }
  const StageShape& shape() const { return shape_; }
  ProgramWriter& writer() { return writer_; }
  std::uint16_t host() const { return host_; }

  /// Tasks that are written from here on are the micro-batch's; -1: they are the whole step's.
  void set_micro_batch(std::int32_t micro_batch) { micro_batch_ = micro_batch; }
  std::int32_t micro_batch() const { return micro_batch_; }

  void write_chain(std::uint32_t chain);
  /// Writes them as one chain; without kernels none.
  void write_kernels(std::vector<Kernel> kernels);

  /// On the group that the rank has for the channel. `wait_cause`: what waiting for the other
  /// members is called. In graph mode an operation is part of its pass's one launch.
  TaskIndex communicate(Channel channel, std::uint32_t operation,
                        const std::vector<TaskIndex>& after, Cause wait_cause);
  /// `cause`: what waiting for it is called once they are all there.
  TaskIndex communicate(Channel channel, std::uint32_t operation,
                        const std::vector<TaskIndex>& after, Cause wait_cause, Cause cause);
  TaskIndex communicate(Channel channel, std::uint32_t operation,
                        const std::vector<TaskIndex>& after);

  /// What a reduction of gradients that needs these waits for: with parallelism.data.cycle the next
  /// turn of the thread that starts it, else nothing more.
  std::vector<TaskIndex> wait_for_cycle(std::vector<TaskIndex> after);

  /// The host stops until these are done.
  TaskIndex wait_on_host(const std::string& name, const std::vector<TaskIndex>& after);
  /// The host stops until all that has been launched is computed, and reads it.
  void read_on_host() { wait_on_host("read a value", {computed()}); }

  /// The host works, or stalls, for that long and launches nothing; what it does follows what it
  /// did before. `end_host_work` is the end of all that was written since its last wait.
  void write_on_host(const std::string& name, Seconds time, Cause cause);
  void end_host_work(const std::string& name);
  void work_on_host(const std::string& name, Seconds time, Cause cause);

  /// A point on the compute row at which these are done. Nobody waits for it but the row.
  TaskIndex mark(const char* name, const std::vector<TaskIndex>& after);

  /// The next chain waits for this task, unless it is kNoTask.
  void wait_for(TaskIndex task);
  const std::vector<TaskIndex>& waits() const { return waits_; }
  std::vector<TaskIndex> take_waits();
  /// What the next kernel would wait for: all that is on the compute row, and the open waits.
  std::vector<TaskIndex> reached() const;

  TaskIndex computed() const { return writer_.last_on(compute_); }
  /// The first task of the compute row that is not before `task`.
  TaskIndex computed_from(TaskIndex task) const { return writer_.first_on(compute_, task); }
  /// The last task on the channel's row.
  TaskIndex last_on(Channel channel) { return writer_.last_on(row_of(channel)); }

  static constexpr TaskIndex kNoTask = ProgramWriter::kNoTask;

 private:
  /// The host stops before it launches that many kernels, while too many are in the queue.
  void wait_for_queue(int kernels);
  std::uint16_t row_of(Channel channel);
  Axis counted_along(Channel channel) const;
  std::uint32_t span_name(std::uint32_t chain);

  PlanDraft& draft_;
  const StageShape& shape_;
  ProgramWriter writer_;
  const bool has_copies_;
  std::uint16_t host_ = 0, compute_ = 0;
  std::uint16_t cycle_ = 0;  ///< 0, the host's: not yet
  std::array<std::uint16_t, kChannels> rows_{};
  std::vector<TaskIndex> waits_;
  /// Chains that the host has launched and not seen done, and their kernels.
  std::deque<std::pair<TaskIndex, int>> queue_;
  int queued_ = 0;
  std::int32_t micro_batch_ = -1;
};

}  // namespace stepsim
