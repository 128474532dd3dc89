// Gradients, norm, optimizer, parameters: in this order.
#include "sim/plan/program/step_end.hpp"

#include <numeric>

#include "sim/ops/style/style.hpp"
#include "sim/plan/memory/update_memory.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"
#include "sim/plan/pass/host_pace.hpp"
#include "sim/plan/pass/operations.hpp"
#include "sim/plan/pass/parameter_gathers.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

constexpr Bytes kNormBytes{8};  // the squared norm and an overflow flag, fp32 each

/// Parameters of batch norms, where they are wider than the others' gradients: a buffer holds
/// gradients of one type (horovod/horovod horovod/common/controller.cc, FuseResponses).
double parameters_apart(const PlanDraft& draft) {
  const Scenario& s = draft.scenario;
  const bool apart = named_style(s.training).reduces_batch_norms_apart &&
                     !s.parallelism.data.overlap && gradient_bytes(s) < kFp32;
  if (!apart) return 0;
  double sum = 0;
  for (const std::size_t block : draft.graph.chain) {
    for (const Op& op : draft.graph.blocks[block].dag.ops) {
      if (op.statistics > 0)
        sum += std::accumulate(op.parameters.begin(), op.parameters.end(), 0.0);
    }
  }
  return sum;
}

}  // namespace

GradientReduction::GradientReduction(RankRows& rows, const StageParameters& parameters)
    : rows_(&rows), parameters_(parameters), apart_(parameters_apart(rows.draft())) {}

bool reduces_alone(const Scenario& scenario, const StageShape& shape) {
  const DataParallel& data = scenario.parallelism.data;
  return shape.of(Channel::data).ranks > 1 && !data.overlap && !data.sharding.shards_parameters;
}

void wait_for_reductions(RankRows& rows) {
  for (const ParameterGroup& group : parameter_groups(rows.shape())) {
    if (group.shape.ranks > 1) rows.wait_for(rows.last_on(group.reduce));
    if (group.same_shard.ranks > 1) rows.wait_for(rows.last_on(group.across));
  }
}

std::vector<TaskIndex> GradientReduction::start() {
  PlanDraft& draft = rows_->draft();
  const DataParallel& data = draft.scenario.parallelism.data;
  if (data.check_for_nan_in_grad) {
    const Bytes all{parameters_.total() * gradient_bytes(draft.scenario)};
    for (std::vector<Kernel>& kernels : gradient_checks(draft, all)) {
      rows_->write_kernels(std::move(kernels));
      rows_->read_on_host();
    }
  }
  const bool copied = copies_gradients(draft.scenario);
  const bool by_copy = copied && data.averaging == Averaging::gradient;
  if (copied)
    rows_->write_kernels({bucket_kernel(draft, "gradients to buckets", parameters_.total())});
  if (casts_buckets(draft.scenario))
    rows_->write_kernels({cast_kernel(draft, "cast buckets", parameters_.total())});
  if (!by_copy && data.averaging != Averaging::collective)
    rows_->write_kernels({averaging_kernel(draft, parameters_.total())});
  const CollectiveOp reduce = gradient_reduction(data);
  const std::vector<TaskIndex> gradients = rows_->wait_for_cycle({rows_->computed()});
  std::vector<TaskIndex> tasks;
  for (const ParameterGroup& group : parameter_groups(rows_->shape())) {
    const double apart = group.expert ? 0 : apart_;
    const Bytes bytes{(parameters_.exchanged(group.expert) - apart) *
                      reduced_bytes(draft.scenario)};
    if (group.is_alone() || bytes == Bytes{0}) continue;
    std::vector<TaskIndex> before = gradients;
    const auto then = [&](Channel channel, CollectiveOp op, Bytes size, const GroupShape& shape) {
      if (shape.ranks > 1 && size > Bytes{0})
        before = {rows_->communicate(channel, pass_collective(draft, op, size, shape), before)};
    };
    then(group.reduce, reduce, bytes, group.shape);
    then(group.reduce, reduce, Bytes{apart * kFp32}, group.shape);
    then(group.across, CollectiveOp::all_reduce, bytes / group.shape.ranks, group.same_shard);
    tasks.push_back(before.front());
  }
  return tasks;
}

void GradientReduction::unpack() {
  PlanDraft& draft = rows_->draft();
  const bool scatters =
      gradient_reduction(draft.scenario.parallelism.data) == CollectiveOp::reduce_scatter;
  if (casts_buckets(draft.scenario))
    rows_->write_kernels({cast_kernel(draft, "cast buckets back", parameters_.kept(scatters))});
  if (copies_gradients(draft.scenario))
    rows_->write_kernels({bucket_kernel(draft, "gradients from buckets", parameters_.total())});
}

StepEnd::StepEnd(RankRows& rows, Offload& offload)
    : rows_(rows),
      offload_(offload),
      scenario_(rows.draft().scenario),
      shape_(rows.shape()),
      strategy_(scenario_.parallelism.data.sharding),
      parameters_(stage_parameters(scenario_, rows.draft().graph, shape_.stage)),
      tensors_(elements_of_tensors(rows.draft(), shape_.stage, strategy_.shards_optimizer, true)),
      gradients_(elements_of_tensors(rows.draft(), shape_.stage, strategy_.shards_gradients)),
      reduction_(rows, parameters_),
      matrices_(rows, parameters_) {}

void StepEnd::write() {
  rows_.set_micro_batch(-1);
  ProgramWriter& writer = rows_.writer();
  if (scenario_.host.graph()) writer.spend_on_host(writer.launch_seconds());
  const bool reduces = reduces_alone(scenario_, shape_) && scenario_.parallelism.data.no_sync;
  if (reduces) reduction_.start();
  wait_for_reductions(rows_);
  if (reduces) reduction_.unpack();
  if (shape_.of(Channel::embedding).ranks > 1) reduce_embedding();
  const double elements = parameters_.kept(strategy_.shards_optimizer);
  const auto begin = static_cast<TaskIndex>(writer.program().tasks.size());
  rows_.write_kernels(norm_kernels(rows_.draft(), elements));
  if (scenario_.training.gradient_clipping) agree_on_norm();
  if (scenario_.parallelism.data.offload_optimizer) {
    offload_.update(elements);
    rows_.write_kernels(clear_kernels(rows_.draft(), gradients_));
  } else {
    matrices_.write();
    std::vector<Kernel> update =
        update_kernels(rows_.draft(), elements, tensors_, gradients_,
                       parameters_.kept_matrices(strategy_.shards_optimizer));
    if (!update.empty())
      update.front().host = static_cast<double>(tensors_.size()) *
                            host_cost::optimizer_tensor.no_graph.seconds() * host_scale(scenario_);
    rows_.write_kernels(std::move(update));
    hold_memory(begin);
  }
  const bool beside_forward = gathers_beside_forward(scenario_, shape_);
  if (shape_.of(Channel::data).ranks > 1 && strategy_.shards_optimizer && !beside_forward)
    gather_parameters();
  rows_.write_kernels(quantise_kernels(rows_.draft(), elements_to_quantise(beside_forward)));
}

/// What the update works with exists from its first task to its last one.
void StepEnd::hold_memory(TaskIndex begin) {
  const Bytes held = update_bytes(scenario_, rows_.draft().graph, shape_.stage);
  if (held == Bytes{0}) return;
  rows_.writer().add_memory(rows_.computed_from(begin), held.bytes(), true);
  rows_.writer().add_memory(rows_.computed(), -held.bytes(), false);
}

/// Parameters that come in fp8 beside forward passes are transposed as they come; an expert that
/// this rank alone has does not come.
double StepEnd::elements_to_quantise(bool beside_forward) const {
  const QuantisedElements all = quantised_elements(scenario_, rows_.draft().graph, shape_.stage);
  if (!beside_forward || !scenario_.training.fp8_parameters) return all.total();
  double alone = 0;
  for (const ParameterGroup& group : parameter_groups(shape_))
    alone += group.shape.ranks == 1 ? all.of(group.expert) : 0;
  return alone;
}

/// First and last stage sum the gradients of the word embedding that both hold, whole even where
/// the optimizer is sharded, after those of the replicas (NVIDIA/Megatron-LM
/// megatron/core/distributed/finalize_model_grads.py _allreduce_word_embedding_grads).
void StepEnd::reduce_embedding() {
  const Bytes gradients{rows_.draft().graph.tied_elements * gradient_bytes(scenario_)};
  const std::uint32_t sum = pass_collective(rows_.draft(), CollectiveOp::all_reduce, gradients,
                                            shape_.of(Channel::embedding));
  rows_.wait_for(rows_.communicate(Channel::embedding, sum, rows_.reached()));
}

/// What was updated in shards and does not wait for its block to be gathered.
double StepEnd::elements_to_gather(bool expert) const {
  if (!strategy_.shards_parameters) return parameters_.exchanged(expert);
  double sum = 0;
  const OpGraph& graph = rows_.draft().graph;
  for (const std::size_t block : blocks_of(scenario_, graph, shape_.stage, 0))
    sum += gathered_elements(scenario_, graph.blocks[block], expert).persistent;
  return sum;
}

Bytes StepEnd::bytes_to_gather(bool expert) const {
  const double quantised =
      strategy_.shards_parameters
          ? 0
          : quantised_elements(scenario_, rows_.draft().graph, shape_.stage).of(expert);
  return stored_bytes(scenario_.training, elements_to_gather(expert), quantised);
}

void StepEnd::gather_parameters() {
  const TaskIndex updated = rows_.computed();
  for (const ParameterGroup& group : parameter_groups(shape_)) {
    const Bytes weights = bytes_to_gather(group.expert);
    if (group.shape.ranks == 1 || weights == Bytes{0}) continue;
    const std::uint32_t gather =
        pass_collective(rows_.draft(), CollectiveOp::all_gather, weights, group.shape);
    rows_.wait_for(rows_.communicate(group.gather, gather, {updated}));
  }
}

/// All ranks that hold a part of the model sum their squared norms, which also joins all stages.
void StepEnd::agree_on_norm() {
  const bool in_shards = strategy_.shards_optimizer && shape_.of(Channel::data).ranks > 1;
  sum_norm(in_shards ? Channel::data : channel_along(Axis::expert));
  sum_norm(Channel::model);
}

void StepEnd::sum_norm(Channel channel) {
  const GroupShape& group = shape_.of(channel);
  if (group.ranks == 1) return;
  const std::uint32_t sum =
      pass_collective(rows_.draft(), CollectiveOp::all_reduce, kNormBytes, group);
  rows_.wait_for(rows_.communicate(channel, sum, {rows_.computed()}));
}

}  // namespace stepsim
