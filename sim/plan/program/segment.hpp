// Segments: one pass (forward or backward of one chunk) as chains of kernels between points of
// contact.
//
// A backward pass is compiled whole or as its two halves. The weight gradients take the kernels and
// collectives that only gradients of parameters need, and reduce these; everything else, recompute
// included, belongs to the input gradients (PyTorch's split of the autograd graph,
// pytorch/pytorch@1fd7abc torch/distributed/pipelining/_backward.py).
//
// A segment is compiled once and used for every micro-batch and step. Between two points of contact
// (a collective starts; the compute row waits for one) the kernels are contracted into one chain.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sim/plan/fault/affected.hpp"
#include "sim/plan/fault/slowest_gpu.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {

struct ChainPiece {
  std::uint32_t chain = 0;
};
/// Starts when the compute row has reached this point; waits refer to it by its slot.
struct StartPiece {
  Channel channel{};
  std::uint32_t operation = 0;
  int slot = 0;
  bool beside_block = false;  ///< needs only what came before the gathered block that runs
  int follows = -1;           ///< needs only the collective of that slot
  bool reduces = false;       ///< gradients, at the next turn of the thread that does
};
struct WaitPiece {
  int slot = 0;
};
/// A block whose parameters were gathered begins.
struct BlockPiece {};
/// The host waits until the block that is that many before the current one has been computed: 1, 2.
struct HoldPiece {
  int blocks = 1;
};
/// The host reads what the kernels before have computed.
struct ReadPiece {};
/// Where the other pass goes on, if two run as one (overlap.hpp).
struct TurnPiece {};
using Piece =
    std::variant<ChainPiece, StartPiece, WaitPiece, BlockPiece, HoldPiece, ReadPiece, TurnPiece>;
using Segment = std::vector<Piece>;

/// Names of the plan, each stored once.
class Names {
 public:
  explicit Names(std::vector<std::string>& names);
  std::uint32_t operator()(const std::string& name);

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> index_;
};

/// The groups of one kind of rank, as costs depend on them.
struct StageShape {
  int stage = 0;
  bool loads = false;            ///< reads input itself
  std::array<bool, 2> writes{};  ///< checkpoints of its dense parameters, of its experts
  std::array<GroupShape, kCollectiveChannels> groups{};  ///< by channel; of one rank: it has none
  std::array<bool, kTransferChannels> between_nodes{};   ///< of the transfer channels
  Slowness slow{};
  int collects_early = 0;  ///< steps before others that its Python collects garbage
  const GroupShape& of(Channel channel) const { return groups[static_cast<std::size_t>(channel)]; }
  GroupShape& of(Channel channel) { return groups[static_cast<std::size_t>(channel)]; }
  auto operator<=>(const StageShape&) const = default;
};

/// How a backward pass reduces gradients: not at all, in buckets, or in one that ends the pass.
/// Where parameters are sharded each block is one.
enum class Reduction { none, buckets, one_bucket };

/// What a forward pass does about parameters that were updated in shards: nothing, they are there;
/// or it waits for them bucket by bucket, and each was asked for where it is needed, when the one
/// before had come, or before the pass.
enum class ParameterGather { none, when_needed, one_ahead, given };

/// All that a segment depends on, besides the scenario: stages in the middle of a pipeline have the
/// same ones.
struct SegmentKey {
  PassKind pass = PassKind::forward;
  Reduction reduction = Reduction::none;
  ParameterGather gather = ParameterGather::none;
  std::vector<std::size_t> blocks;
  StageShape shape;  ///< but for what only the rest of a program depends on
  auto operator<=>(const SegmentKey&) const = default;
};

/// What the stages of a plan are compiled with.
struct Workshop {
  const Scenario& scenario;
  const OpGraph& graph;
  Plan& plan;
  Names name;
  std::vector<bool> saves{};                 ///< by step: whether a checkpoint follows
  std::map<SegmentKey, Segment> segments{};  ///< those that have been compiled
  std::vector<std::uint32_t> span_names{};   ///< by chain; see RankRows
  // Layers are alike: what passes launch and start again and again is timed once.
  std::unordered_map<const Launch*, Kernel> kernels{};  ///< of the graph's launches
  Pace pace = pace_of_slowest(scenario);
  std::map<std::tuple<CollectiveOp, Bytes, GroupShape>, std::uint32_t> pass_operations{};
  std::map<std::pair<Bytes, GroupShape>, std::uint32_t> exchanges{};  ///< of tokens
  bool pairs = overlaps_exchanges(scenario);                          ///< segments have turns
};

/// The kernel of that work: its time on the scenario's GPU, and where it was never measured.
Kernel timed(Workshop& shop, const std::string& name, const Work& work, Cause cause);

/// Blocks of one chunk, as indices into OpGraph::blocks.
std::vector<std::size_t> blocks_of(const Scenario& scenario, const OpGraph& graph, int stage,
                                   int chunk);

/// Parameters that the same ranks hold: those of a rank's experts, or all others.
struct ParameterGroup {
  Channel reduce, gather, across;
  GroupShape shape;       ///< ranks that share one copy of what is sharded
  GroupShape same_shard;  ///< those that hold the same shard of its copies
  bool expert;
  bool is_alone() const { return shape.ranks == 1 && same_shard.ranks == 1; }
};
std::array<ParameterGroup, 2> parameter_groups(const StageShape& shape);

/// Adds the operation to the plan; its phases are chosen by the scenario's `collectives`.
std::uint32_t add_collective(Workshop& shop, CollectiveOp op, Bytes bytes, const GroupShape& group);

/// Bytes that one gradient element is reduced in.
double gradient_bytes(const Scenario& scenario);

/// As add_collective; passes that start the same one again and again share it.
std::uint32_t pass_collective(Workshop& shop, CollectiveOp op, Bytes bytes,
                              const GroupShape& group);

/// A gradient, and the op of the graph whose backward kernels complete it.
struct CompletedGradient {
  const Op* op;
  GradientReady ready;
};

/// Of these blocks, in the order in which their backward pass completes them.
std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks);

/// Of the blocks' gradients, by whether they are experts', which end a bucket.
std::array<std::vector<bool>, 2> ends_of_buckets(const Workshop& shop,
                                                 const std::vector<std::size_t>& blocks);

/// A pass of these blocks, compiled when it is first asked for. `pass`: forward, backward, or one
/// half of it. `reduction`: of a backward pass; of a forward pass that gathers, how the gradients
/// of the same parameters are reduced.
const Segment& segment_of(Workshop& shop, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction = Reduction::none,
                          ParameterGather gather = ParameterGather::none);

/// Parameter elements of a block that are gathered for each of its passes, and those that stay.
struct GatheredElements {
  double each_pass = 0, persistent = 0;
  GatheredElements operator+(const GatheredElements& other) const {
    return {each_pass + other.each_pass, persistent + other.persistent};
  }
};
/// `expert`: of the parameters of expert-parallel experts, or of all others.
GatheredElements gathered_elements(const Scenario& scenario, const Block& block, bool expert);
/// Bytes of parameters as they are gathered, of which so many elements are quantised where
/// fp8_parameters says so.
Bytes stored_bytes(const Training& training, double elements, double quantised);
/// What an op's passes gather.
double gathered_elements(const Scenario& scenario, const Op& op);
/// And in how many bytes: weights of linear layers may be quantised before.
Bytes gathered_bytes(const Scenario& scenario, const Op& op);
Bytes gathered_bytes(const Scenario& scenario, const Block& block, bool expert);

/// A chain of these kernels, on a GPU that takes `factor` times as long; `launch` is the host's
/// time for each.
std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch, double factor);

/// How many times as long the host's work takes where the busy threads of a node's processes are
/// more than its cores, and each gets a part of one.
double cpu_slowdown(const Scenario& scenario);

/// As add_chain, of kernels that the scenario's host launches: those that block are part of it.
std::uint32_t add_launched_chain(Workshop& shop, std::vector<Kernel> kernels, double factor);

/// Host time per kernel: none where a whole pass is one graph launch.
Seconds launch_time(const Scenario& scenario);

}  // namespace stepsim
