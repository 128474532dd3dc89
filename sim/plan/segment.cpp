// Compiling passes into segments.
#include "sim/plan/segment.hpp"

#include <algorithm>
#include <optional>

#include "sim/cluster/kernel_time.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/recompute.hpp"
#include "sim/plan/resources.hpp"

namespace stepsim {
namespace {

const std::string kAuto = "auto";

const std::string& algorithm_for(CollectiveOp op, const Collectives& collectives) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return collectives.all_reduce;
    case CollectiveOp::all_gather:
      return collectives.all_gather;
    case CollectiveOp::reduce_scatter:
      return collectives.reduce_scatter;
    case CollectiveOp::all_to_all:
    case CollectiveOp::shift:
      return kAuto;
  }
  throw InternalError("a collective without an algorithm");
}

/// Whether a split backward runs the item in that half.
bool belongs(const Item& item, PassKind pass) {
  if (pass == PassKind::forward || pass == PassKind::backward) return true;
  const bool for_weights = std::visit(
      [](const auto& part) {
        if constexpr (std::is_same_v<std::decay_t<decltype(part)>, GradientReady>)
          return true;
        else
          return part.for_weights;
      },
      item);
  return for_weights == (pass == PassKind::weight_gradient);
}

/// Writes the pieces of one pass, kernel by kernel.
class PassWriter {
 public:
  PassWriter(Workshop& shop, const StageShape& shape)
      : shop_(shop),
        shape_(shape),
        strategy_(strategy_of(shop.scenario.parallelism.data.sharding)),
        open_{Bucket{parameter_groups(shape)[0], {}}, Bucket{parameter_groups(shape)[1], {}}} {}

  void run(const Items& items, Cause cause, PassKind pass) {
    for (const Item& item : items) {
      if (!belongs(item, pass)) continue;
      std::visit([&](const auto& part) { add(part, cause); }, item);
    }
  }

  /// A kernel of the backward pass that only moves gradients.
  void move(const char* name, Bytes bytes) {
    add(Launch{name, MemoryBound{bytes, MemoryRate::optimizer}}, Cause::backward);
  }

  int start(Channel channel, CollectiveOp op, Bytes bytes, const GroupShape& group,
            bool beside_block = false) {
    close_chain();
    const std::uint32_t operation = add_collective(shop_, op, bytes, group);
    segment_.emplace_back(StartPiece{channel, operation, slots_, beside_block});
    return slots_++;
  }

  /// Of a reduction: where each rank has its shard of a copy's sum, and where it has that of all.
  struct ReductionSlots {
    int scattered, reduced;
  };

  /// Among the ranks that share a copy, then each shard with its like on a stream of its own
  /// (FSDP's hybrid sharding, pytorch/pytorch torch/distributed/fsdp/_runtime_utils.py
  /// _reduce_grad; NVIDIA/Megatron-LM megatron/core/distributed/param_and_grad_buffer.py
  /// start_grad_sync).
  ReductionSlots start_reduction(const ParameterGroup& group, Bytes gradients) {
    int scattered = -1;
    if (group.shape.ranks > 1)
      scattered = start(group.reduce, strategy_.reduce, gradients, group.shape);
    if (group.same_shard.ranks == 1) return {scattered, scattered};
    const int reduced = start(group.across, CollectiveOp::all_reduce, gradients / group.shape.ranks,
                              group.same_shard);
    std::get<StartPiece>(segment_.back()).follows = scattered;
    return {scattered < 0 ? reduced : scattered, reduced};
  }

  void begin_block() {
    close_chain();
    segment_.emplace_back(BlockPiece{});
  }
  void hold(int blocks) {
    close_chain();
    segment_.emplace_back(HoldPiece{blocks});
  }

  void wait(int slot) {
    close_chain();
    segment_.emplace_back(WaitPiece{slot});
  }

  /// From here on completed gradients fill buckets that are reduced as they close, or ones that
  /// flush_buckets reduces.
  void reduce(Reduction reduction) { reduction_ = reduction; }
  /// Reduces what the open buckets hold.
  void flush_buckets() {
    for (Bucket& bucket : open_) flush(bucket);
  }

  Segment finish() {
    close_chain();
    return std::move(segment_);
  }

 private:
  void add(const Launch& launch, Cause cause) {
    const Seconds seconds = kernel_time(launch.work, shop_.scenario.cluster.gpu);
    kernels_.push_back({.name = shop_.name(launch.name),
                        .seconds = seconds.seconds(),
                        .memory_bound = std::holds_alternative<MemoryBound>(launch.work),
                        .cause = cause});
  }

  void add(const StartCollective& collective, Cause) {
    switch (collective.group) {
      case PassGroup::tensor:
        open_slot_ = start(Channel::tensor, collective.op, collective.bytes, shape_.tensor);
        return;
      case PassGroup::context:
        open_slot_ = start(Channel::context, collective.op, collective.bytes, shape_.context);
        return;
      case PassGroup::expert:
        open_slot_ = start(Channel::expert, collective.op, collective.bytes, shape_.expert);
        return;
      case PassGroup::tables:
        open_slot_ = start(Channel::tables, collective.op, collective.bytes, shape_.tables);
        return;
    }
  }

  void add(const Join&, Cause) { wait(open_slot_); }

  void add(const GradientReady& gradient, Cause) {
    if (reduction_ == Reduction::none) return;
    const DataParallel& data = shop_.scenario.parallelism.data;
    Bucket& bucket = open_[gradient.expert ? 1 : 0];
    bucket.bytes += Bytes{gradient.elements * gradient_bytes(shop_.scenario)};
    if (reduction_ == Reduction::one_bucket) return;
    if (bucket.bytes >= (bucket.is_first ? data.first_bucket : data.bucket)) flush(bucket);
  }

  struct Bucket {
    ParameterGroup group;
    Bytes bytes;
    bool is_first = true;
  };

  void flush(Bucket& bucket) {
    if (bucket.bytes <= Bytes{0} || bucket.group.is_alone()) return;
    // PyTorch's DDP divides as it copies a gradient into its bucket (reducer.cpp,
    // mark_variable_ready_dense), Megatron-LM the bucket as a whole.
    move("average gradients", bucket.bytes * 2);
    start_reduction(bucket.group, bucket.bytes);
    bucket.bytes = Bytes{0};
    bucket.is_first = false;
  }

  void close_chain() {
    if (kernels_.empty()) return;
    segment_.emplace_back(
        ChainPiece{add_chain(shop_.plan, std::move(kernels_), launch_time(shop_.scenario))});
    kernels_.clear();
  }

  Workshop& shop_;
  const StageShape& shape_;
  const ShardingStrategy& strategy_;
  Segment segment_;
  std::vector<Kernel> kernels_;
  int slots_ = 0;
  int open_slot_ = 0;
  Reduction reduction_ = Reduction::none;
  std::array<Bucket, 2> open_;
};

void run_forward(PassWriter& writer, const Block& block, Cause cause = Cause::forward) {
  for (const Op* op : block.order()) writer.run(op->forward, cause, PassKind::forward);
}

/// The block's ops backward, with what recompute repeats before them.
void run_backward(PassWriter& writer, const Block& block, const Recomputation& recompute,
                  PassKind pass) {
  const bool repeats = pass != PassKind::weight_gradient;
  for (const Op* op : block.recomputed(recompute)) {
    if (repeats) writer.run(op->forward, Cause::recompute, PassKind::forward);
  }
  const auto order = block.order();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    const auto index = static_cast<std::size_t>(*op - block.dag.ops.data());
    for (const RecomputeRegion& region : block.regions) {
      if (repeats && region.before == index && recompute.repeats(region.module))
        writer.run(region.forward, Cause::recompute, PassKind::forward);
    }
    writer.run((*op)->backward, Cause::backward, pass);
  }
}

/// A span of the chunk backward; layers that are recomputed as one run forward again before that.
void run_backward(PassWriter& writer, const OpGraph& graph, const std::vector<std::size_t>& blocks,
                  const RecomputeSpan& span, PassKind pass) {
  const bool as_one = span.size() > 1;
  for (std::size_t i = span.begin; as_one && i < span.end; ++i) {
    if (pass != PassKind::weight_gradient)
      run_forward(writer, graph.blocks[blocks[i]], Cause::recompute);
  }
  for (std::size_t i = span.end; i-- > span.begin;)
    run_backward(writer, graph.blocks[blocks[i]], as_one ? Recomputation{} : span.how, pass);
}

/// Parameters of the block that are replicated over that group.
double elements_of(const Block& block, const ParameterGroup& group) {
  const double experts = block.expert_parameters();
  return group.expert ? experts : block.parameters() - experts;
}

/// The blocks of one pass of ZeRO 3: each is gathered before it runs, one block ahead of it where
/// that is wanted, so that two are there at a time. What the host issues when is the framework's:
/// `prefetch` (see DataParallel).
class GatheredPass {
 public:
  GatheredPass(PassWriter& writer, const Workshop& shop, const StageShape& shape, Prefetch prefetch)
      : writer_(writer),
        shop_(shop),
        shape_(shape),
        data_(shop.scenario.parallelism.data),
        prefetch_(data_.overlap ? prefetch : Prefetch::none) {}

  /// `gathers(block)`: whether it has to be; `run(block)` does its work; `finish(block)` comes
  /// after the next block has been asked for.
  template <class Gathers, class Run, class Finish>
  void run(const std::vector<std::size_t>& blocks, Gathers gathers, Run run, Finish finish) {
    slots_.assign(blocks.size(), {});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto ask = [&](std::size_t block, int held) {
        const Block& b = shop_.graph.blocks[blocks[block]];
        if (!gathers(b) || !has_parameters_to_gather(b)) return;
        if (held > 0 && data_.limit_all_gathers) writer_.hold(held);
        slots_[block] = gather(b, held > 0);
      };
      const bool has_next = i + 1 < blocks.size();
      if (i == 0 || prefetch_ == Prefetch::none) ask(i, 0);
      writer_.begin_block();
      if (has_next && prefetch_ == Prefetch::pre) ask(i + 1, 2);
      for (const int slot : slots_[i]) writer_.wait(slot);
      run(shop_.graph.blocks[blocks[i]]);
      if (has_next && prefetch_ == Prefetch::post) ask(i + 1, 1);
      finish(shop_.graph.blocks[blocks[i]]);
    }
  }

 private:
  bool has_parameters_to_gather(const Block& block) const {
    return gathered_elements(shop_.scenario, block, false).each_pass > 0 ||
           gathered_elements(shop_.scenario, block, true).each_pass > 0;
  }

  std::vector<int> gather(const Block& block, bool beside) {
    const double element = shop_.scenario.training.element();
    std::vector<int> slots;
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      const auto elements = gathered_elements(shop_.scenario, block, group.expert);
      const Bytes bytes{elements.each_pass * element};
      if (group.shape.ranks == 1 || bytes == Bytes{0}) continue;
      slots.push_back(
          writer_.start(group.gather, CollectiveOp::all_gather, bytes, group.shape, beside));
    }
    return slots;
  }

  PassWriter& writer_;
  const Workshop& shop_;
  const StageShape& shape_;
  const DataParallel& data_;
  Prefetch prefetch_;
  std::vector<std::vector<int>> slots_;  ///< of each block; none where it is here already
};

/// Whether a block that forward gathered is not there any more in backward.
bool was_resharded(const Workshop& shop, const Block& block) {
  const Reshard reshard = shop.scenario.parallelism.data.reshard_after_forward;
  return reshard == Reshard::all || (reshard == Reshard::layers && block.recomputable);
}

/// What FSDP does with a block's gradients before they are scattered: they become one flat tensor
/// (backward of the views into the gathered parameters), of the type in which they are reduced, and
/// are divided by a part of the ranks (pytorch/pytorch torch/distributed/fsdp/_runtime_utils.py,
/// _reduce_grad). DeepSpeed's ZeRO 3 copies and divides likewise.
void flatten_gradients(PassWriter& writer, const Scenario& scenario, double elements) {
  const double computed = scenario.training.element();
  const double reduced = gradient_bytes(scenario);
  writer.move("flatten gradients", Bytes{2 * computed * elements});
  if (reduced != computed) writer.move("cast gradients", Bytes{(computed + reduced) * elements});
  writer.move("divide gradients", Bytes{2 * reduced * elements});
}

/// Reduces the block's gradients; returns the slots that may have to be waited for: with overlap
/// only what the next block's reduction would wait for.
std::vector<int> scatter_gradients(PassWriter& writer, const Workshop& shop,
                                   const StageShape& shape, const Block& block) {
  std::vector<int> slots;
  for (const ParameterGroup& group : parameter_groups(shape)) {
    const double elements = elements_of(block, group);
    const Bytes gradients{elements * gradient_bytes(shop.scenario)};
    if (group.is_alone() || gradients == Bytes{0}) continue;
    flatten_gradients(writer, shop.scenario, elements);
    const auto started = writer.start_reduction(group, gradients);
    slots.push_back(shop.scenario.parallelism.data.overlap ? started.scattered : started.reduced);
  }
  return slots;
}

bool shards_parameters(const Workshop& shop, const StageShape& shape) {
  return strategy_of(shop.scenario.parallelism.data.sharding).shards_parameters &&
         shape.data.ranks > 1;
}

}  // namespace

std::uint32_t Names::operator()(const std::string& name) {
  const auto [entry, is_new] = index_.emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return entry->second;
}

std::vector<std::size_t> blocks_of(const Scenario& scenario, const OpGraph& graph, int stage,
                                   int chunk) {
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  const Placement placement = placement_of(scenario);
  const auto parts = static_cast<std::size_t>(placement.parts());
  const auto part = static_cast<std::size_t>(placement.part({stage, chunk}));
  // The blocks before the first layer and after the last go with the first and the last part.
  const auto is_layer = [&](std::size_t block) { return graph.blocks[block].recomputable; };
  const auto layers =
      static_cast<std::size_t>(std::count_if(graph.chain.begin(), graph.chain.end(), is_layer));
  const auto before = static_cast<std::size_t>(
      std::find_if(graph.chain.begin(), graph.chain.end(), is_layer) - graph.chain.begin());
  std::vector<std::size_t> sizes(parts, layers / parts);
  for (std::size_t i = 0; i < pipeline.layers.size(); ++i)
    sizes[i] = static_cast<std::size_t>(pipeline.layers[i]);
  std::size_t begin = before;
  for (std::size_t i = 0; i < part; ++i) begin += sizes[i];
  std::size_t end = begin + sizes[part];
  if (part == 0) begin = 0;
  if (part + 1 == parts) end = graph.chain.size();
  std::vector<std::size_t> blocks{graph.chain.begin() + static_cast<std::ptrdiff_t>(begin),
                                  graph.chain.begin() + static_cast<std::ptrdiff_t>(end)};
  // A head beside the embedding has no weights of its own.
  if (graph.tied_head && part + 1 == parts && placement.holds(stage, 0))
    blocks.back() = *graph.tied_head;
  return blocks;
}

std::array<ParameterGroup, 2> parameter_groups(const StageShape& shape) {
  return {ParameterGroup{Channel::data, Channel::data_gather, Channel::data_across, shape.data,
                         shape.data_across, false},
          ParameterGroup{Channel::expert_data, Channel::expert_gather, Channel::expert_across,
                         shape.expert_data, shape.expert_across, true}};
}

std::uint32_t add_collective(Workshop& shop, CollectiveOp op, Bytes bytes,
                             const GroupShape& group) {
  Operation operation{.name = shop.name(name_of(op)), .phases = {}, .bytes = bytes};
  operation.phases = collective({op, bytes}, group, shop.scenario.cluster,
                                algorithm_for(op, shop.scenario.collectives));
  take_resources(operation, memory_traffic(op, bytes, group.ranks), shop.scenario.cluster);
  shop.plan.operations.push_back(std::move(operation));
  return static_cast<std::uint32_t>(shop.plan.operations.size() - 1);
}

double gradient_bytes(const Scenario& scenario) {
  return bytes_per_element(scenario.training.gradients);
}

Seconds launch_time(const Scenario& scenario) {
  return scenario.host.graph ? Seconds{0} : scenario.host.launch;
}

void contract(Chain& chain) {
  chain.launch = chain.compute = chain.launched = 0;
  chain.mix.fill(0);
  for (const Kernel& kernel : chain.kernels) {
    chain.launch += chain.launch_each;
    chain.compute += kernel.seconds;
    // Each kernel starts when it is launched and the one before has ended.
    chain.launched = std::max(chain.launched, chain.launch) + kernel.seconds;
    chain.mix[static_cast<std::size_t>(kernel.cause)] += kernel.seconds;
  }
}

std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch) {
  Chain chain{.kernels = std::move(kernels), .launch_each = launch.seconds()};
  contract(chain);
  plan.chains.push_back(std::move(chain));
  return static_cast<std::uint32_t>(plan.chains.size() - 1);
}

GatheredElements gathered_elements(const Scenario& scenario, const Block& block, bool expert) {
  const auto threshold = static_cast<double>(scenario.parallelism.data.persistence_threshold);
  GatheredElements elements;
  for (const Op* op : block.order()) {
    if (op->expert != expert) continue;
    for (const double tensor : op->parameters)
      (tensor < threshold ? elements.persistent : elements.each_pass) += tensor;
  }
  return elements;
}

Segment forward_segment(Workshop& shop, const StageShape& shape,
                        const std::vector<std::size_t>& blocks) {
  PassWriter writer(shop, shape);
  const bool ahead = shop.scenario.parallelism.data.forward_prefetch;
  if (shards_parameters(shop, shape)) {
    GatheredPass(writer, shop, shape, ahead ? Prefetch::pre : Prefetch::post)
        .run(
            blocks, [](const Block&) { return true; },
            [&](const Block& block) { run_forward(writer, block); }, [](const Block&) {});
  } else {
    for (const std::size_t block : blocks) run_forward(writer, shop.graph.blocks[block]);
  }
  return writer.finish();
}

namespace {

/// Backward of ZeRO 3: what was given up is gathered again, each block's gradients are scattered.
void run_sharded_backward(PassWriter& writer, Workshop& shop, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction) {
  const DataParallel& data = shop.scenario.parallelism.data;
  const bool reduces = reduction != Reduction::none && completes_gradients(pass);
  std::vector<int> last;
  const auto wait = [&] {
    for (const int slot : last) writer.wait(slot);
  };
  const auto scatter = [&](const Block& block) {
    if (!reduces || block.parameters() == 0) return;
    if (data.limit_reduce_scatters) wait();
    last = scatter_gradients(writer, shop, shape, block);
    if (!data.overlap) wait();
  };
  GatheredPass(writer, shop, shape, data.backward_prefetch)
      .run(
          blocks, [&](const Block& block) { return was_resharded(shop, block); },
          [&](const Block& block) {
            run_backward(writer, block, shop.scenario.training.recompute, pass);
          },
          scatter);
}

}  // namespace

Segment backward_segment(Workshop& shop, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, PassKind pass,
                         Reduction reduction) {
  PassWriter writer(shop, shape);
  if (shards_parameters(shop, shape)) {
    const std::vector<std::size_t> backward(blocks.rbegin(), blocks.rend());
    run_sharded_backward(writer, shop, shape, backward, pass, reduction);
    return writer.finish();
  }
  writer.reduce(reduction);
  const auto spans = recompute_spans(shop.scenario.training.recompute, shop.graph, blocks);
  for (auto span = spans.rbegin(); span != spans.rend(); ++span)
    run_backward(writer, shop.graph, blocks, *span, pass);
  writer.flush_buckets();
  return writer.finish();
}

}  // namespace stepsim
