// A prediction beside what was recorded: the difference of the steps as a list that sums to it.
#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/report/recording/kernel_family.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// A mean step of one rank, predicted or recorded.
struct StepAccount {
  double step_s = 0;
  CauseSeconds causes{};   ///< with not_known_s they sum to step_s
  double not_known_s = 0;  ///< recorded only
  FamilyTimes families{};  ///< sums over kernels
  double launches = 0;     ///< kernels
  double mfu = 0;          ///< of the scenario's model FLOPs, as Metrics has it
  double beside_s = 0;  ///< what its kernels take together, less their sum: overlap, or contention
};

/// The rank of the slowest stage. `simulation` has single kernels.
StepAccount predicted_account(const Metrics& metrics, const OpGraph& graph,
                              const Simulation& simulation);
/// The rank that works longest. Where no steps are marked the window is one.
StepAccount recorded_account(const RecordedJob& job);

/// A part of the difference of the steps.
struct StepDifference {
  std::string name;   ///< "gemm", "exposed_data", as JSON spells it
  std::string title;  ///< as a person reads it
  double predicted_s = 0, recorded_s = 0;
  std::string remark;  ///< what would explain it: a constant, a key with its value; may be empty
  double difference_s() const { return recorded_s - predicted_s; }
};

struct RecordedComparison {
  std::string scenario, recording;  ///< names of their files
  StepAccount predicted, recorded;
  /// The largest first. Work is told apart by families of kernels, the rest by cause; all sum to
  /// the difference of the steps.
  std::vector<StepDifference> differences;
  double layers = 0;  ///< of the model on that rank; 0: it has none
  std::vector<std::string> not_known;
};

RecordedComparison compare_with_recording(const Scenario& scenario, const Metrics& metrics,
                                          const OpGraph& graph, const Simulation& simulation,
                                          const RecordedJob& job);

std::string to_table(const RecordedComparison& comparison, const Screen& screen);
/// Schema "stepsim.recorded_comparison/1".
std::string to_json(const RecordedComparison& comparison);

}  // namespace stepsim
