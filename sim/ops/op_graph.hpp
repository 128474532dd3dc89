// The op graph: what a model computes on one tensor-parallel rank, forward and backward; not where,
// not when.
//
// A model is a chain of blocks (embedding, layers, head). A block is a small directed graph of ops;
// equal blocks are stored once. An op lists, for each direction, its kernels and its
// tensor-parallel collectives in the order in which a framework issues them, the parameters it owns
// and what it keeps for backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/ops/host_calls.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Launch a kernel.
struct Launch {
  std::string name;
  Work work;
  bool for_weights = false;    ///< backward: only gradients of parameters need it
  Seconds more_launches = {};  ///< the host's, of kernels that this one stands for beside itself
  double more_operators = 0;   ///< of eager PyTorch, each with a launch, besides those
  bool continues = false;      ///< the kernel before goes on, which the host does not launch again
};

/// Start a collective. `bytes` is the full tensor (nccl-tests size): the message of an all-reduce,
/// the output of an all-gather, the input of a reduce-scatter, what a rank holds before an
/// all-to-all, what it passes on in a shift.
struct StartCollective {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes;
  Axis axis;                 ///< along which the ranks differ that take part
  bool for_weights = false;  ///< backward: only gradients of parameters need it
  bool copied = false;       ///< a shift by copy engines, which take no SMs
  bool yields = true;        ///< an exchange of experts: beside it the other pass of a pair goes on
};

/// The kernels that follow need the result of the collective started last, or of the one started
/// last along that axis.
struct Join {
  bool for_weights = false;  ///< backward: only for the collective that is
  std::optional<Axis> axis = {};
};

/// The host reads what the GPU has computed, and launches nothing until it is there.
struct HostRead {
  bool for_weights = false;
};

/// The gradient of a parameter tensor with this many elements (on this rank) is complete.
struct GradientReady {
  double elements = 0;
  /// true: of an expert that only some data-parallel ranks hold, or of one rank alone
  bool expert = false;
};

using Item = std::variant<Launch, StartCollective, Join, GradientReady, HostRead>;
using Items = std::vector<Item>;

/// Rows and columns of a weight.
using WeightShape = std::pair<std::int64_t, std::int64_t>;

/// Along which side of a matrix ranks split it.
enum class MatrixSplit { none, rows, columns };

/// A weight of a hidden layer as a matrix, on this rank; rows are outputs.
struct WeightMatrix {
  std::int64_t rows = 0, columns = 0;
  MatrixSplit split = MatrixSplit::none;
  Axis axis = Axis::tensor;           ///< along which the ranks differ that split it
  std::vector<std::int64_t> parts{};  ///< rows of matrices that it is made of; empty: it is one
  double elements() const { return static_cast<double>(rows) * static_cast<double>(columns); }
};

struct Op {
  std::string name;  ///< "qkv"
  Items forward, backward;
  bool normalises = false;  ///< a norm, whose first kernel writes its output
  /// A sum with what a residual connection carries. Where norms come first its edge from the first
  /// norm stands for the layer's input, which comes from no op.
  bool adds_residual = false;
  int input_casts = 0;                  ///< kernels that quantise the input, the first ones forward
  HostCalls calls{};                    ///< what a framework calls for it besides
  std::optional<GraphModule> module{};  ///< whose CUDA graph would have it
  std::vector<double> parameters;       ///< elements of each parameter tensor on this rank
  std::vector<WeightMatrix> matrices{};  ///< the first of `parameters`, those that are matrices
  double quantised = 0;                  ///< elements of `parameters` multiplied in fp8 or nvfp4
  std::vector<double> frozen{};          ///< elements of each parameter tensor that is not trained
  double frozen_quantised = 0;
  bool adapter = false;      ///< trained beside weights that are not
  bool has_gradient = true;  ///< false: nothing before it is trained, and no backward pass is run
  double statistics = 0;     ///< channels whose running mean and variance it keeps
  /// true: its parameters belong to experts that only some data ranks hold, or to one rank alone
  bool expert = false;
  Bytes output;        ///< output, and its gradient, per micro-batch
  Bytes tables;        ///< embedding tables of this rank, which passes update themselves
  Bytes saved;         ///< kept for backward, per micro-batch
  Bytes saved_input;   ///< the part of saved that enters the op
  Bytes saved_scores;  ///< the part of saved that selective recompute drops and computes again
  /// Copies of weights in the type of products, which a forward pass makes and backward needs:
  /// autocast keeps those of trained weights until the forward pass ends (pytorch/pytorch
  /// aten/src/ATen/autocast_mode.cpp, cached_cast), of a layer that is computed again too.
  Bytes weight_copies;
  Bytes scratch;  ///< held while its backward runs, beside the gradients of inputs and output
  std::vector<WeightShape> placeholders;  ///< empty gradients that its library keeps by shape
  bool loss = false;                      ///< true: it keeps logits and what the loss makes of them
  Bytes kept_for_weights;       ///< inputs and output gradients that gradients of parameters
                                ///< need, where they are computed later
  Flops flops;                  ///< forward model FLOPs of this rank (attention counted in full)
  bool core_attention = false;  ///< what selective recompute drops and computes again

  /// All that its forward pass leaves for backward, per micro-batch.
  Bytes kept() const { return saved + weight_copies; }
};

/// The ops of a block and who waits for whom, in order of insertion.
struct OpDag {
  using Vertex = std::size_t;
  std::vector<Op> ops;
  std::vector<std::pair<Vertex, Vertex>> edges;  ///< from an op to one that waits for it

  /// Adds an op that waits for each of `inputs`.
  Vertex add(Op op, const std::vector<Vertex>& inputs);
  Op& operator[](Vertex vertex) { return ops[vertex]; }
};

struct ForwardFlops {
  Flops products, attention;
};

/// A module of a block that selective recompute drops after the forward pass.
struct RecomputeRegion {
  RecomputeModule module = RecomputeModule::core_attention;
  std::size_t before = 0;  ///< the op whose backward pass needs it again
  std::size_t first = 0;   ///< the first op that keeps some of it
  Items forward;           ///< what is repeated
  HostCalls calls;         ///< of what is repeated; a layer's own Python is not
  Bytes dropped;           ///< bytes that it drops of what the block's ops save
  ForwardFlops flops;      ///< FLOPs of what is repeated
};

/// Where a pipeline has a layer: dealt to the stages, or with what is before the layers or behind
/// them.
enum class BlockPlace { dealt, front, back };

/// One unit of the model: what full recompute checkpoints, ZeRO-3 gathers and the pipeline deals
/// out.
struct Block {
  std::string name;  ///< "layer"
  OpDag dag;
  Bytes input;  ///< the activation that enters it, as full recompute keeps it, per micro-batch
  bool recomputable = false;
  BlockPlace place = BlockPlace::dealt;
  std::vector<RecomputeRegion> regions = {};  ///< in the order in which a forward pass meets them

  /// Whether the pipeline deals it out.
  bool is_layer() const { return recomputable && place == BlockPlace::dealt; }
  /// The ops in an order in which a framework runs them forward (a topological order, stable by
  /// name of insertion). Throws InternalError when the graph has a cycle.
  std::vector<const Op*> order() const;
  /// The ops whose forward pass full recompute repeats. An early stop leaves out what comes after
  /// the last tensor that is kept, and the op that keeps it when it keeps its input: PyTorch's
  /// checkpoint stops as soon as all kept tensors are there again (pytorch/pytorch
  /// torch/utils/checkpoint.py, _StopRecomputationError, without reentrance).
  std::vector<const Op*> recomputed(const Recomputation& recompute) const;
  double parameters() const;         ///< trained ones of this rank
  double frozen_parameters() const;  ///< parameters of this rank that are not trained
  bool has_gradient() const;         ///< an op of it has a backward pass
  double expert_parameters() const;  ///< trained parameters of expert-parallel experts
  Bytes tables() const;
  double quantised() const;         ///< trained parameters that are multiplied in fp8 or nvfp4
  double frozen_quantised() const;  ///< such parameters that are not trained
  /// Kept of one micro-batch where the block by itself is recomputed like that.
  Bytes saved(const Recomputation& recompute) const;
  Bytes weight_copies() const;  ///< of its ops
  ForwardFlops forward_flops() const;
  /// Modules that the backward pass runs again: those whose output has a gradient.
  std::vector<const RecomputeRegion*> repeated_regions(const Recomputation& recompute) const;
  /// What the backward pass repeats of them.
  ForwardFlops repeated(const Recomputation& recompute) const;
  Bytes kept_for_weights() const;
};

struct OpGraph {
  std::vector<Block> blocks;       ///< the distinct ones
  std::vector<std::size_t> chain;  ///< the model from input to loss, indices into blocks
  /// The chain of rank 0 where that is not like the others'; empty: it is.
  std::vector<std::size_t> first_chain = {};
  bool of_first = false;  ///< `chain` is that of rank 0, and `first_chain` the others'
  Bytes boundary;         ///< activation that passes between two blocks, per micro-batch, unsharded
  /// this rank's elements of the word embedding, where the model's last part uses it too
  double tied_elements = 0;
  /// blocks of the last part that hold a copy of the embedding, each with the block that it is on a
  /// stage that has the embedding, too
  std::map<std::size_t, std::size_t> without_copy = {};
  double total_parameters = 0;  ///< parameters of the whole model, over all tensor ranks
  Flops model_flops;            ///< forward and backward of one step, all ranks, without recompute
  std::string flop_convention;  ///< how that is counted: its name and what it says
};

/// The graph of rank 0, where it differs from that of the others.
OpGraph graph_of_first(const OpGraph& others);

/// Turns a scenario's model, batch and tensor split into ops.
OpGraph build(const Scenario& scenario);

}  // namespace stepsim
