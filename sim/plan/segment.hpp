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
#include <variant>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {

struct ChainPiece {
  std::uint32_t chain = 0;
};
/// Starts when the compute row has reached this point; waits refer to it by its slot.
struct StartPiece {
  Channel channel = Channel::tensor;
  std::uint32_t operation = 0;
  int slot = 0;
};
struct WaitPiece {
  int slot = 0;
};
using Piece = std::variant<ChainPiece, StartPiece, WaitPiece>;
using Segment = std::vector<Piece>;

/// Names of the plan, each stored once.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t operator()(const std::string& name);

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> index_;
};

/// What the stages of a plan are compiled with.
struct Workshop {
  const Scenario& scenario;
  const OpGraph& graph;
  Plan& plan;
  Names name;
};

/// The groups of one kind of rank, as costs depend on them.
struct StageShape {
  int stage = 0;
  bool loads = false;  ///< reads input itself
  GroupShape tensor, context, expert, data, expert_data, model;
  std::array<bool, kTransferChannels> between_nodes{};  ///< of the transfer channels
  auto operator<=>(const StageShape&) const = default;
};

/// Blocks of one chunk, as indices into OpGraph::blocks.
std::vector<std::size_t> blocks_of(const Scenario& scenario, const OpGraph& graph, int stage,
                                   int chunk);

/// Parameters that are replicated over the same ranks: those of a rank's experts, or all others.
struct ParameterGroup {
  Channel reduce, gather;
  GroupShape shape;
  bool expert;
};
std::array<ParameterGroup, 2> parameter_groups(const StageShape& shape);

/// Adds the operation to the plan; its phases are chosen by the scenario's `collectives`.
std::uint32_t add_collective(Workshop& shop, CollectiveOp op, Bytes bytes, const GroupShape& group);

/// Bytes that one gradient element is reduced in.
double gradient_bytes(const Scenario& scenario);

Segment forward_segment(Workshop& shop, const StageShape& shape,
                        const std::vector<std::size_t>& blocks);

/// `pass`: backward, or one half of it. `reduces`: gradients are reduced during this pass (the last
/// micro-batch, or every one for ZeRO 2 and 3).
Segment backward_segment(Workshop& shop, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, PassKind pass, bool reduces);

/// A chain of these kernels; `launch` is the host's time for each.
std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch);

/// Host time per kernel: none where a whole pass is one graph launch.
Seconds launch_time(const Scenario& scenario);

}  // namespace stepsim
