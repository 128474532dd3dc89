// Writing a pass into a segment: kernels are gathered into chains, collectives start and are waited
// for, completed gradients fill buckets.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "sim/plan/pass/chains.hpp"
#include "sim/plan/pass/host_pace.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {

/// Writes the pieces of one pass, kernel by kernel.
class PassWriter {
 public:
  PassWriter(PlanDraft& draft, const StageShape& shape)
      : draft_(draft),
        shape_(shape),
        gradient_op_(gradient_reduction(draft.scenario.parallelism.data)),
        host_(draft.scenario),
        open_{Bucket{parameter_groups(shape)[0]}, Bucket{parameter_groups(shape)[1]}} {}

  void run(const Items& items, Cause cause, PassKind pass);

  /// What the host does, besides launching what runs next.
  HostPaceMeter& host() { return host_; }

  /// A kernel that only moves gradients or parameters. `slower`: than its bytes.
  void move(const char* name, Bytes bytes, Cause cause = Cause::backward, double slower = 1) {
    const MemoryBound work{.bytes = bytes, .rate = MemoryRate::optimizer, .slower = slower};
    kernels_.push_back(timed(draft_, name, work, cause));
    kernels_.back().host += host_.take();
    kernels_.back().check = 0;  // what autograd has not computed is not looked at
  }

  int start(Channel channel, CollectiveOp op, Bytes bytes, const GroupShape& group,
            bool beside_block = false);
  /// Starts an operation of the plan; the chain before it has been closed.
  int start(Channel channel, std::uint32_t operation, bool beside_block = false);

  /// The first slots of the segment are those of collectives that were started before it.
  void take_slots(int slots) { slots_ = slots; }

  /// Slots of a reduction: behind `scattered` each rank has its shard of a copy's sum, behind
  /// `reduced` its shard of the sum of all.
  struct ReductionSlots {
    int scattered, reduced;
  };

  /// Among the ranks that share a copy, then each shard with its like on a stream of its own
  /// (FSDP's hybrid sharding, pytorch/pytorch torch/distributed/fsdp/_runtime_utils.py
  /// _reduce_grad; NVIDIA/Megatron-LM megatron/core/distributed/param_and_grad_buffer.py
  /// start_grad_sync).
  ReductionSlots start_reduction(const ParameterGroup& group, Bytes gradients);

  /// The kernels that follow are the op's, which may be part of a graph.
  void enter(const Op& op);

  /// In pairs of passes it is the other's turn after each exchange, and after a layer without any.
  void begin_layer() { turned_ = false; }
  void end_layer() {
    if (!turned_) turn();
  }

  void begin_block() {
    close_chain();
    segment_.emplace_back(BlockPiece{});
  }
  /// What the block keeps leaves for the host, or comes back from there.
  void offload(const Block& block, const Recomputation& recompute);
  void reload(const Block& block, const Recomputation& recompute);
  void hold(int blocks) {
    close_chain();
    segment_.emplace_back(HoldPiece{blocks});
  }

  void wait(int slot) {
    close_chain();
    segment_.emplace_back(WaitPiece{slot});
  }

  /// From here on completed gradients fill buckets that are reduced as they close, or ones that
  /// flush_buckets reduces. `ends`: of gradients of other parameters, and of experts', which end a
  /// bucket; empty: none. `times`: as many elements as there are, ranks exchange of either.
  void reduce(Reduction reduction, std::array<std::vector<bool>, 2> ends,
              const std::array<double, 2>& times) {
    reduction_ = reduction;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      open_[i].ends = std::move(ends[i]);
      open_[i].times = times[i];
    }
  }
  /// The ranks that share the layers' scales of fp8 look for their tensors' largest values.
  void reduce_amax(std::size_t layers);
  /// Reduces what the open buckets hold.
  void flush_buckets() {
    for (Bucket& bucket : open_) flush(bucket);
  }
  /// Casts buckets back and copies gradients out of them, each bucket's when it is reduced. What a
  /// stream of its own would do beside the backward pass comes behind it.
  void unpack_buckets();

  Segment finish() {
    // What the host does behind the last launch holds up the next pass: a little too early, here.
    if (!kernels_.empty()) kernels_.back().host += host_.take();
    close_chain();
    return std::move(segment_);
  }

 private:
  /// A launch of the graph: its time is known by its address.
  void add(const Launch& launch, Cause cause);
  void add(Launch&& launch, Cause cause) = delete;

  void add(const StartCollective& collective, Cause);

  void turn() {
    if (!draft_.pairs) return;
    close_chain();
    segment_.emplace_back(TurnPiece{});
    turned_ = true;
  }

  void add(const Join& join, Cause) {
    wait(join.axis ? open_slots_[static_cast<std::size_t>(*join.axis)] : open_slot_);
  }

  void add(const HostRead&, Cause) {
    close_chain();
    segment_.emplace_back(ReadPiece{});
  }

  /// Opens the slot of a collective along that axis.
  void open(Axis axis, int slot) {
    open_slot_ = open_slots_[static_cast<std::size_t>(axis)] = slot;
  }

  void add(const GradientReady& gradient, Cause);

  struct Bucket {
    ParameterGroup group;
    std::vector<bool> ends{};        ///< whether one ends, by number of gradient
    std::size_t completed = 0;       ///< gradients, of all buckets
    std::vector<Bytes> gradients{};  ///< gradients that it holds
    double times = 1;                ///< as many bytes, with padding, are exchanged
  };
  struct Reduced {
    int slot;  ///< -1: there is nobody to reduce with
    std::vector<Bytes> gradients;
    double share;  ///< of the bucket that this rank has behind the reduction
  };

  void flush(Bucket& bucket);

  void check(Bytes gradients);

  bool averages(Averaging averaging) const {
    return draft_.scenario.parallelism.data.averaging == averaging;
  }

  void close_chain();

  PlanDraft& draft_;
  const StageShape& shape_;
  CollectiveOp gradient_op_;  ///< what reduces gradients
  HostPaceMeter host_;
  Segment segment_;
  std::vector<Kernel> kernels_;
  int slots_ = 0;
  int open_slot_ = 0;                    ///< of the collective started last
  std::array<int, kAxes> open_slots_{};  ///< by axis
  std::optional<GraphModule> graph_;     ///< whose kernels these are; nothing: no graph's
  bool is_launched_ = false;             ///< the graph has been
  bool turned_ = false;                  ///< since the layer began
  Reduction reduction_ = Reduction::none;
  std::array<Bucket, 2> open_;
  std::vector<Reduced> reduced_;  ///< buckets, in order
};

/// What happens around each op of a block, in either direction.
struct AroundOps {
  std::function<void(const Op&)> before = [](const Op&) {};
  std::function<void(const Op&)> after = [](const Op&) {};
};

/// `recompute`: of the block, whose backward pass will run it forward again.
void run_forward(PassWriter& writer, const Block& block, Cause cause = Cause::forward,
                 const Recomputation& recompute = {}, const AroundOps& around = {});
/// The block's ops backward, with what recompute repeats before them.
void run_backward(PassWriter& writer, const Block& block, const Recomputation& recompute,
                  PassKind pass, const AroundOps& around = {});

}  // namespace stepsim
