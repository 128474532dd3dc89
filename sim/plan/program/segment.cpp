// Compiling passes into segments.
#include "sim/plan/program/segment.hpp"

#include <algorithm>

#include "sim/cluster/kernel_time.hpp"
#include "sim/cluster/measured_range.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/group/resources.hpp"
#include "sim/plan/program/buckets.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/program/parameter_gathers.hpp"
#include "sim/plan/program/recompute.hpp"
#include "sim/plan/program/sharded_pass.hpp"

namespace stepsim {
namespace {

/// A span of the chunk backward; layers that are recomputed as one run forward again before that.
void run_backward(PassWriter& writer, const OpGraph& graph, const std::vector<std::size_t>& blocks,
                  const RecomputeSpan& span, PassKind pass) {
  const bool as_one = span.size() > 1;
  if (as_one && pass != PassKind::weight_gradient)
    writer.host().spend(host_cost::checkpoint.backward);
  for (std::size_t i = span.begin; as_one && i < span.end; ++i) {
    if (pass != PassKind::weight_gradient)
      run_forward(writer, graph.blocks[blocks[i]], Cause::recompute);
  }
  for (std::size_t i = span.end; i-- > span.begin;)
    run_backward(writer, graph.blocks[blocks[i]], as_one ? Recomputation{} : span.how, pass);
}

void add_outside(std::vector<OutsideSeconds>& outside, const Kernel& kernel) {
  if (kernel.outside == kInRange) return;
  const auto known = std::find_if(outside.begin(), outside.end(), [&](const OutsideSeconds& side) {
    return side.name == kernel.outside;
  });
  if (known == outside.end()) {
    outside.push_back({kernel.outside, kernel.seconds});
  } else {
    known->seconds += kernel.seconds;
  }
}

}  // namespace

Names::Names(std::vector<std::string>& names) : names_(names) {
  for (std::uint32_t i = 0; i < names.size(); ++i) index_.emplace(names[i], i);
}

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
  return {ParameterGroup{Channel::data, Channel::data_gather, Channel::data_across,
                         shape.of(Channel::data), shape.of(Channel::data_across), false},
          ParameterGroup{Channel::expert_data, Channel::expert_gather, Channel::expert_across,
                         shape.of(Channel::expert_data), shape.of(Channel::expert_across), true}};
}

std::uint32_t add_collective(Workshop& shop, CollectiveOp op, Bytes bytes,
                             const GroupShape& group) {
  Operation operation{.name = shop.name(name_of(op)), .phases = {}, .bytes = bytes};
  const Cluster& cluster = shop.scenario.cluster;
  const Collectives& collectives = shop.scenario.collectives;
  if (group.ranks > 1) {
    const CollectiveRequest request{op, bytes};
    const Decision decision = decide(request, group, cluster, collectives);
    operation.phases = phases_of(decision, request, group, cluster, collectives);
    operation.held_sms =
        share_of_sms(channels_of(decision, request, group, cluster, collectives), cluster.gpu);
  }
  use_memory(operation, memory_traffic(op, bytes, group.ranks), cluster.gpu);
  shop.plan.operations.push_back(std::move(operation));
  return static_cast<std::uint32_t>(shop.plan.operations.size() - 1);
}

std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks) {
  std::vector<CompletedGradient> gradients;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const auto order = graph.blocks[*block].order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      for (const Item& item : (*op)->backward) {
        if (const auto* ready = std::get_if<GradientReady>(&item))
          gradients.push_back({*op, *ready});
      }
    }
  }
  return gradients;
}

std::array<std::vector<bool>, 2> ends_of_buckets(const Workshop& shop,
                                                 const std::vector<std::size_t>& blocks) {
  std::array<std::vector<Bytes>, 2> gradients;
  for (const auto& [op, ready] : completed_gradients(shop.graph, blocks))
    gradients[ready.expert ? 1 : 0].emplace_back(ready.elements * gradient_bytes(shop.scenario));
  const DataParallel& data = shop.scenario.parallelism.data;
  return {bucket_ends(gradients[0], data), bucket_ends(gradients[1], data)};
}

std::uint32_t pass_collective(Workshop& shop, CollectiveOp op, Bytes bytes,
                              const GroupShape& group) {
  const auto [known, is_new] = shop.pass_operations.try_emplace({op, bytes, group}, 0);
  if (is_new) known->second = add_collective(shop, op, bytes, group);
  return known->second;
}

double gradient_bytes(const Scenario& scenario) {
  return bytes_per_element(scenario.training.gradients);
}

namespace {

/// Each kernel after the launch that the GPU waits for.
std::vector<Kernel> between_launches(Workshop& shop, const std::vector<Kernel>& kernels,
                                     Seconds launch) {
  Kernel wait{.name = shop.name("blocking launch"), .cause = Cause::launch_gap};
  std::vector<Kernel> all;
  all.reserve(2 * kernels.size());
  for (const Kernel& kernel : kernels) {
    wait.seconds = launch.seconds() + kernel.host;
    all.push_back(wait);
    all.push_back(kernel);
    all.back().host = 0;
  }
  return all;
}

}  // namespace

double cpu_slowdown(const Scenario& scenario) {
  const Host& host = scenario.host;
  if (!host.cores) return 1;
  return std::max(1.0, host.threads * scenario.cluster.gpus_per_node / *host.cores);
}

Seconds launch_time(const Scenario& scenario) {
  const Host& host = scenario.host;
  return host.graph() ? Seconds{0} : host.launch * cpu_slowdown(scenario);
}

std::uint32_t add_launched_chain(Workshop& shop, std::vector<Kernel> kernels, double factor) {
  const Seconds launch = launch_time(shop.scenario);
  if (!shop.scenario.host.blocking())
    return add_chain(shop.plan, std::move(kernels), launch, factor);
  for (Kernel& kernel : kernels) kernel.seconds *= factor;  // a slow GPU's launches are not slow
  return add_chain(shop.plan, between_launches(shop, kernels, launch), Seconds{0}, 1);
}

Kernel timed(Workshop& shop, const std::string& name, const Work& work, Cause cause) {
  const GpuProfile& gpu = shop.scenario.cluster.gpu;
  const std::string outside = outside_range(work, gpu);
  return {.name = shop.name(name),
          .seconds = kernel_time(work, gpu).seconds() * shop.pace.of(work),
          .memory_bound = std::holds_alternative<MemoryBound>(work),
          .contention = std::holds_alternative<Gemm>(work) ? gpu.gemm_contention : 1,
          .cause = cause,
          .outside = outside.empty() ? kInRange : shop.name(outside)};
}

void contract(Chain& chain) {
  chain.launch = chain.compute = chain.launched = 0;
  chain.mix.fill(0);
  chain.outside.clear();
  double host = 0;
  for (Kernel& kernel : chain.kernels) {
    kernel.host_until = host += kernel.host;
    chain.launch += chain.launch_each + kernel.host;
    chain.compute += kernel.seconds;
    // Each kernel starts when it is launched and the one before has ended.
    chain.launched = std::max(chain.launched, chain.launch) + kernel.seconds;
    chain.mix[static_cast<std::size_t>(kernel.cause)] += kernel.seconds;
    add_outside(chain.outside, kernel);
  }
}

std::uint32_t add_chain(Plan& plan, std::vector<Kernel> kernels, Seconds launch, double factor) {
  for (Kernel& kernel : kernels) kernel.seconds *= factor;
  Chain chain{.kernels = std::move(kernels), .launch_each = launch.seconds()};
  contract(chain);
  plan.chains.push_back(std::move(chain));
  return static_cast<std::uint32_t>(plan.chains.size() - 1);
}

namespace {

/// Without what a program depends on besides its passes.
StageShape shape_of_passes(StageShape shape) {
  shape.stage = 0;
  shape.loads = false;
  shape.writes = {};
  shape.of(Channel::model) = shape.of(Channel::embedding) = {};
  shape.between_nodes = {};
  shape.collects_early = 0;
  return shape;
}

Segment forward_segment(Workshop& shop, const StageShape& shape,
                        const std::vector<std::size_t>& blocks, const AroundOps& around,
                        PassWriter& writer) {
  if (shards_parameters(shop, shape)) {
    run_sharded_forward(writer, shop, shape, blocks);
    writer.reduce_amax(blocks.size());
    return writer.finish();
  }
  for (const RecomputeSpan& span :
       recompute_spans(shop.scenario.training.recompute, shop.graph, blocks)) {
    if (span.how.kind == Recompute::full) writer.host().spend(host_cost::checkpoint.forward);
    for (std::size_t i = span.begin; i < span.end; ++i)
      run_forward(writer, shop.graph.blocks[blocks[i]], Cause::forward, span.how, around);
  }
  writer.reduce_amax(blocks.size());
  return writer.finish();
}

Segment forward_segment(Workshop& shop, const StageShape& shape, const SegmentKey& key) {
  PassWriter writer(shop, shape);
  if (key.gather == ParameterGather::none)
    return forward_segment(shop, shape, key.blocks, AroundOps{}, writer);
  ParameterArrivals arrivals(writer, shop,
                             parameter_buckets(shop, shape, key.blocks, key.reduction), key.gather);
  const AroundOps around{.before = [&](const Op& op) { arrivals.before(op); }};
  return forward_segment(shop, shape, key.blocks, around, writer);
}

Segment backward_segment(Workshop& shop, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, PassKind pass,
                         Reduction reduction) {
  PassWriter writer(shop, shape);
  if (shards_parameters(shop, shape)) {
    const std::vector<std::size_t> backward(blocks.rbegin(), blocks.rend());
    run_sharded_backward(writer, shop, shape, backward, pass, reduction);
    if (pass != PassKind::weight_gradient) writer.reduce_amax(blocks.size());
    return writer.finish();
  }
  writer.reduce(reduction, reduction == Reduction::buckets ? ends_of_buckets(shop, blocks)
                                                           : std::array<std::vector<bool>, 2>{});
  const auto spans = recompute_spans(shop.scenario.training.recompute, shop.graph, blocks);
  for (auto span = spans.rbegin(); span != spans.rend(); ++span)
    run_backward(writer, shop.graph, blocks, *span, pass);
  if (pass != PassKind::weight_gradient) writer.reduce_amax(blocks.size());
  writer.flush_buckets();
  if (copies_gradients(shop.scenario)) writer.unpack_buckets();
  return writer.finish();
}

}  // namespace

const Segment& segment_of(Workshop& shop, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction, ParameterGather gather) {
  const auto [entry, is_new] =
      shop.segments.try_emplace({pass, reduction, gather, blocks, shape_of_passes(shape)});
  const StageShape& of_passes = entry->first.shape;
  if (is_new) {
    entry->second = pass == PassKind::forward
                        ? forward_segment(shop, of_passes, entry->first)
                        : backward_segment(shop, of_passes, blocks, pass, reduction);
  }
  return entry->second;
}

}  // namespace stepsim
