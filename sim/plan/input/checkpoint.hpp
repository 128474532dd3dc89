// A checkpoint as tasks and edges: gather, copy to the host, write, wait for each other.
//
// Synchronous, the host of each rank waits for its copy and its write. Asynchronous, it waits for
// the copy alone (pytorch/pytorch torch/distributed/checkpoint/state_dict_saver.py, async_save:
// staging, then a save in the background); the write goes on beside the next steps on a row of its
// own, and the next copy waits for it, as the buffers on the host are one set. At the end all ranks
// wait for each other, as they agree that all of it is there.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/plan/memory/checkpoint_bytes.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/program/rank_rows.hpp"

namespace stepsim {

/// Whether a checkpoint follows each step, warm-up steps included. None does where the measured
/// steps are no whole number of periods.
std::vector<bool> steps_that_save(const Scenario& scenario, const PlanOptions& options);

/// Whether the rank writes its dense parameters, and whether it writes its experts.
std::array<bool, 2> writes_of(const Plan& plan, const Scenario& scenario, int rank);

class CheckpointRows {
 public:
  explicit CheckpointRows(RankRows& rows) : rows_(rows) {}

  /// Adds a checkpoint after the last step, whose end waits for it.
  void write();

 private:
  TaskIndex task(TaskKind kind, const char* name, std::uint16_t row, double amount,
                 const std::vector<TaskIndex>& after, bool launched);
  std::vector<TaskIndex> gather(const std::vector<TaskIndex>& after);
  TaskIndex copy(Bytes size, std::vector<TaskIndex> after);
  TaskIndex save(Bytes size, const std::vector<TaskIndex>& after);
  void join(Channel channel, std::optional<std::uint32_t>& operation);

  RankRows& rows_;
  std::uint16_t row_ = 0, writing_row_ = 0;  ///< 0 (the host's row): there is none yet
  std::array<std::optional<std::uint32_t>, 2> gathers_ = {};  ///< indexed by ParameterGroup
  /// the collectives in which ranks wait for each other
  std::optional<std::uint32_t> data_, across_, model_;
};

}  // namespace stepsim
