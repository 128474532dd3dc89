// The answer: the numbers of one simulated run, ready to be printed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/horizon/long_run.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/report/measure/cost.hpp"
#include "sim/report/measure/energy.hpp"
#include "sim/report/measure/statistics.hpp"
#include "sim/scenario/read/assumed_keys.hpp"
#include "sim/timeline/timeline.hpp"
#include "sim/validation/expected_error.hpp"

namespace stepsim {

struct Memory {
  std::vector<StageMemory> stages;
  Bytes capacity;
  Seconds peak_time;  ///< moment of the worst stage's peak, since its step began
  int chunks = 1;     ///< parts of the model on each stage
  double margin = 0;  ///< share of the capacity that proposals leave free
  const StageMemory& worst() const {
    const StageMemory* most = &stages.front();
    for (const StageMemory& stage : stages) {
      if (stage.total() > most->total()) most = &stage;
    }
    return *most;
  }
  /// Whether the model fits without the cached fragments, which PyTorch gives back when memory runs
  /// out (pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks).
  bool fits() const { return worst().needed() <= capacity; }
  Bytes usable() const { return capacity * (1 - margin); }
  bool leaves_margin() const { return worst().total() <= usable(); }
  bool tight() const { return fits() && worst().total() > capacity; }
};

/// Communication along one axis on the slowest stage, per step.
struct GroupCommunication {
  Axis axis{};
  Bytes bytes;      ///< payload that a rank hands to its collectives and transfers
  Seconds busy;     ///< time in which a transfer or a collective is in flight
  Seconds exposed;  ///< time that the compute row waits for it
  Seconds hidden;   ///< part of `busy` in which the compute row works
};

struct Verdict {
  std::string sentence;   ///< "network-bound: the GPUs wait 40 % of the step for the network; ..."
  std::string next{};     ///< the next thing to try
  bool is_fault = false;  ///< true: something is broken, and mending it comes first
  std::string limit{};  ///< name of the limit that the step is bound by; empty: compute, or a fault
};

/// Ranks that behave alike and are later than their peers.
struct Straggler {
  std::vector<int> ranks;
  int stage = 0;
  Seconds late;       ///< a step, beyond the median rank of their stage
  Seconds stall;      ///< part of `late` in which their hosts stall
  double factor = 1;  ///< time of their kernels over that of the median rank
};

/// Kernels of a size that the GPU's constants were never measured at.
struct OutsideRange {
  std::string side;  ///< "GEMM k < 256"
  Seconds time;      ///< time of its kernels, undisturbed, in a mean step of the slowest stage
};

/// The step if one resource took no time.
struct LimitStep {
  std::string name;   ///< name of the limit: network
  std::string world;  ///< "with an infinitely fast network"
  Seconds step;
};

/// What one kind of fault costs.
struct FaultCost {
  std::string key;    ///< key of the fault: slow_gpus, slow_links, jitter
  std::string title;  ///< title in reports: slow GPUs, ...
  Seconds without;    ///< the step without faults of that kind
};

/// Replicas: runs that differ in what is random.
struct Replicas {
  int asked = 0;
  std::vector<Seconds> steps;                 ///< the mean step of each that was done, in order
  std::vector<std::vector<Seconds>> samples;  ///< steps without checkpoints of each; only where a
                                              ///< long run is made of them
  Statistics statistics;                      ///< statistics of `steps`
  int median = 0;  ///< the replica in the middle, whose numbers the rest of a report has

  bool is_interrupted() const { return static_cast<int>(steps.size()) < asked; }
};

/// What one checkpoint is, and what it costs.
struct CheckpointCost {
  std::int64_t every = 0;  ///< steps from one checkpoint to the next
  bool async = false;
  Bytes size;  ///< size of the checkpoint, all ranks together
  CheckpointTimes times;
  Seconds step;  ///< a step without jitter and checkpoints
  /// The time of a step with its share of a checkpoint, in a run without failures.
  Seconds shared_step() const {
    return undisturbed_interval(step * static_cast<double>(every), times) /
           static_cast<double>(every);
  }
  /// The share of checkpoints in the time of a run without failures; at least 0.
  double fraction() const { return std::max(1 - step / shared_step(), 0.0); }
};

/// Where wall time went in this program; printed with --stats only.
struct RunStats {
  double wall_s = 0;
  double peak_rss_bytes = 0;
  /// seconds to load, build, plan, simulate, measure
  std::vector<std::pair<std::string, double>> stages_s;
};

struct Provenance {
  std::string version;
  /// hashes of the scenario, the GPU profile and the link profile
  std::vector<std::pair<std::string, std::string>> hashes;
  std::string scenario;  ///< YAML with every default; empty: the caller does not say
};

/// The steps that follow from links which differ by nothing that could be measured.
struct Chaos {
  Seconds least, most;
  int runs = 0;
};

struct Metrics {
  std::string scenario;
  std::string model, gpu;
  int gpus = 0, nodes = 0;
  std::string split;                ///< "tensor 8 x pipeline 8 x data 16, 96 micro-batches of 1"
  std::string attention;            ///< unfused, flash2, ...; empty: the model has none
  bool has_tokens = true;           ///< false: the model has samples only
  std::string samples = "samples";  ///< word for samples, such as images
  Seconds step_time;                ///< mean of the measured steps
  std::vector<Seconds> steps;
  std::optional<Chaos> chaos;  ///< absent: the step follows from what is stated to four digits
  double tokens_per_s = 0, samples_per_s = 0, tokens_per_s_per_gpu = 0;
  double model_tflops_per_gpu = 0;
  double mfu = 0, hfu = 0;
  std::string flop_convention;
  int slowest_stage = 0;
  CauseSeconds breakdown{};  ///< a mean step of the slowest stage; sums to step_time
  CauseSeconds critical{};   ///< a mean step's critical path, across ranks; sums to step_time
  CauseSeconds all_ranks{};  ///< the mean of all ranks; sums to step_time
  double bubble_fraction = 0, data_stall_fraction = 0, overlap_efficiency = 0;
  std::vector<GroupCommunication> communication;
  Memory memory;
  std::optional<Replicas> replicas;          ///< absent: there is a single run
  std::optional<CheckpointCost> checkpoint;  ///< absent: no checkpoint is written
  std::optional<LongRun> long_run;           ///< absent: run.horizon is not stated
  std::vector<OutsideRange> outside_range;   ///< the longest comes first
  std::vector<FaultCost> fault_costs;
  std::vector<Straggler> stragglers;  ///< the latest come first
  Seconds without_stragglers;         ///< the step if the stragglers were as fast as their peers
  std::optional<RunCost> cost;        ///< absent: the scenario has no price
  std::optional<RunEnergy> energy;    ///< absent: the GPU's profile has no power_limit
  Verdict verdict;
  std::vector<LimitStep> limits;                ///< those that apply, in the order of their names
  std::optional<ExpectedError> expected_error;  ///< absent: no record of measured runs was found
  EngineStats engine;
  std::vector<AssumedKey> assumed;  ///< what nobody stated, and what was taken
  Provenance provenance;
};

/// The split and the attention for a header: "tensor 8 x pipeline 8 x data 16, 96 micro-batches of
/// 1, attention flash2".
inline std::string split_and_attention(const Metrics& metrics) {
  return metrics.split + (metrics.attention.empty() ? "" : ", attention " + metrics.attention);
}

/// An `expect` of the scenario, compared with the result.
struct ExpectationOutcome {
  std::string text;    ///< text as written: "step_time <= 4.6 s"
  std::string actual;  ///< value of the result: "4.41 s"
  bool holds = true;
};

}  // namespace stepsim
