// The scenario: what is trained, on what, split how, fed from where. Plain values, checked once by
// the reader.
//
// These structs are what a scenario file says after all names are resolved and all defaults are
// filled in. Nothing in them points back to YAML. Any part of the program may read them; only
// sim/scenario/ makes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/checkpoint.hpp"
#include "sim/scenario/cluster.hpp"
#include "sim/scenario/cost.hpp"
#include "sim/scenario/energy.hpp"
#include "sim/scenario/faults.hpp"
#include "sim/scenario/horizon.hpp"
#include "sim/scenario/host.hpp"
#include "sim/scenario/input.hpp"
#include "sim/scenario/model.hpp"
#include "sim/scenario/parallelism.hpp"
#include "sim/scenario/training.hpp"

namespace stepsim {

/// The framework whose defaults a scenario starts from (sim/scenario/describe/frameworks.hpp).
enum class Framework { pytorch_ddp, pytorch_fsdp1, pytorch_fsdp2, megatron, deepspeed };

/// Share of a GPU's memory that plans leave free: of 27 measured runs that are predicted to fill
/// 93 % and more two took about 30 % longer than predicted (validate/DEVIATIONS.md, "Full memory").
inline constexpr double kMemoryMargin = 0.07;

/// What shares links among transfers: arithmetic that is exact for classes of alike ranks, or
/// SimGrid (docs/engine.md).
enum class EngineKind { exact, simgrid };

/// What is simulated.
struct Run {
  int steps = 2;                   ///< steps that are measured
  int warmup = 1;                  ///< steps before them
  std::uint64_t seed = 0;          ///< all that is random is drawn from it (`faults`)
  int replicas = 1;                ///< runs that differ in what is random
  std::optional<Horizon> horizon;  ///< absent: what is simulated is all there is
  std::string flops = "megatron";  ///< a name of `stepsim list conventions`
  /// share of a GPU's memory that strategies and settings which are proposed leave free
  double memory_margin = kMemoryMargin;
  EngineKind engine = EngineKind::exact;
  bool operator==(const Run&) const = default;
};

/// One assertion on the result; the reader has checked that key, comparison and unit fit together.
struct Expectation {
  std::string key;         ///< step_time, mfu, hfu, tokens_per_s, samples_per_s, peak_memory,
                           ///< bubble_fraction, data_stall_fraction, overlap_efficiency, goodput,
                           ///< fits
  std::string comparison;  ///< <=, >=, <, >, ==
  double value = 0;        ///< SI base units; fractions as fractions; fits: 0 or 1
  std::string text;        ///< as written
  bool operator==(const Expectation&) const = default;
};

/// NCCL's releases whose choices are known, in order (sim/plan/nccl/constants.hpp; thresholds.hpp
/// for 2.4, which has no cost model).
enum class NcclVersion { v2_4, v2_20, v2_27, v2_30 };

/// How one kind of collective runs.
struct CollectiveChoice {
  std::string algorithm = "auto";    ///< a name of `stepsim list collectives`; auto: NCCL's choice
  std::optional<Protocol> protocol;  ///< absent: NCCL's choice
  bool operator==(const CollectiveChoice&) const = default;
};

/// How ranks talk.
struct Collectives {
  CollectiveChoice all_reduce, all_gather, reduce_scatter, all_to_all;
  NcclVersion nccl = NcclVersion::v2_30;
  bool operator==(const Collectives&) const = default;
};

/// A collective of which scenarios state the algorithm, and profiles of links what was measured.
struct StatedCollective {
  CollectiveOp op;
  CollectiveChoice Collectives::*choice;
  std::vector<CollectiveLine> LinkProfile::*lines;
};
inline constexpr StatedCollective kStatedCollectives[] = {
    {CollectiveOp::all_reduce, &Collectives::all_reduce, &LinkProfile::all_reduce},
    {CollectiveOp::all_gather, &Collectives::all_gather, &LinkProfile::all_gather},
    {CollectiveOp::reduce_scatter, &Collectives::reduce_scatter, &LinkProfile::reduce_scatter},
    {CollectiveOp::all_to_all, &Collectives::all_to_all, &LinkProfile::all_to_all},
};
/// nullptr for a collective of which nothing is stated.
constexpr const StatedCollective* stated_collective(CollectiveOp op) {
  for (const StatedCollective& stated : kStatedCollectives)
    if (stated.op == op) return &stated;
  return nullptr;
}

/// All that a scenario file says, with its defaults filled in.
struct Scenario {
  std::string name;
  std::string description;
  std::optional<Framework> framework;  ///< absent: the defaults that stand here
  Model model;
  Cluster cluster;
  Training training;
  Parallelism parallelism;
  Collectives collectives;
  std::optional<Input> data;             ///< absent: input is never waited for
  std::optional<Checkpoint> checkpoint;  ///< absent: none is written
  Host host;
  Faults faults;
  std::optional<Reliability> reliability;  ///< absent: its defaults
  std::optional<Cost> cost;
  Energy energy;
  Run run;
  std::vector<Expectation> expect;
  std::string hash;  ///< hash of the resolved scenario

  /// Tokens of a sample's (source) sequence or image; 0 for feature vectors.
  std::int64_t sequence_length() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    return t != nullptr && t->vision ? t->vision->tokens() : training.sequence_length;
  }
  /// An image of a sample as the model's tower has it; nothing without a tower, or before the keys
  /// are known to fit.
  std::optional<ImageTokens> image_tokens() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    if (t == nullptr || !t->tower || !training.images) return std::nullopt;
    return ImageTokens(*t->tower, *training.images);
  }
  /// Tokens of a sample's target sequence; 0 where the model has no encoder beside its decoder.
  std::int64_t target_length() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    if (t == nullptr || t->encoder_layers == 0) return 0;
    const std::int64_t stated = training.decoder_sequence_length;
    return stated > 0 ? stated : training.sequence_length;
  }
  /// Tokens of a step's source and target sequences; 0 for models of samples.
  double tokens_per_step() const {
    const auto* t = std::get_if<Transformer>(&model.shape);
    if (t == nullptr || t->vision) return 0;
    return static_cast<double>(training.global_batch * (sequence_length() + target_length()));
  }
  int data_parallel() const { return replicas() / parallelism.context.degree; }
  /// Ranks that hold the same dense parameters: data x context.
  int replicas() const {
    return cluster.gpus() / (parallelism.tensor * parallelism.pipeline.stages);
  }
  /// Copies of what data-parallel ranks share out, each on neighbouring data ranks.
  int shard_groups() const {
    const auto& degree = parallelism.data.shard_degree;
    return degree ? data_parallel() / *degree : 1;
  }
  /// Micro-batches that each pipeline runs per step.
  int micro_batches() const {
    return static_cast<int>(training.global_batch / (training.micro_batch * data_parallel()));
  }
  /// What a GPU may hold by what is proposed.
  Bytes usable_memory() const { return cluster.gpu.memory * (1 - run.memory_margin); }
  /// Whether checkpoints are among the steps that are simulated. Measured steps have whole periods
  /// of them or none, for else a mean step would depend on where the measurement ends.
  bool simulates_checkpoints() const { return checkpoint && run.steps % checkpoint->every == 0; }
  bool operator==(const Scenario&) const = default;
};

}  // namespace stepsim
