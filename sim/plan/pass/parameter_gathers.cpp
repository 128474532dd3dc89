// Buckets of parameters, and the waits of a forward pass for them.
#include "sim/plan/pass/parameter_gathers.hpp"

#include <algorithm>
#include <utility>

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"

namespace stepsim {
namespace {

double gradient_elements(const Op& op) {
  double sum = 0;
  for (const Item& item : op.backward) {
    if (const auto* ready = std::get_if<GradientReady>(&item)) sum += ready->elements;
  }
  return sum;
}

}  // namespace

bool gathers_beside_forward(const Scenario& scenario, const StageShape& shape) {
  const DataParallel& data = scenario.parallelism.data;
  const Sharding& strategy = data.sharding;
  return data.overlap_param_gather && data.overlap && strategy.shards_optimizer &&
         !strategy.shards_parameters && shape.of(Channel::data).ranks > 1;
}

ParameterGather when_gathered(const Parallelism& split) {
  if (!split.data.align_param_gather) return ParameterGather::one_ahead;
  return split.pipeline.chunks > 1 ? ParameterGather::given : ParameterGather::when_needed;
}

Bytes ParameterBucket::bytes(const Training& training) const {
  return times * stored_bytes(training, elements, quantised);
}

std::vector<ParameterBucket> parameter_buckets(const PlanDraft& draft, const StageShape& shape,
                                               const std::vector<std::size_t>& blocks,
                                               Reduction reduction) {
  const auto groups = parameter_groups(shape);
  const auto ends = reduction == Reduction::buckets
                        ? ends_of_buckets(draft.scenario, draft.graph, blocks)
                        : std::array<std::vector<bool>, 2>{};
  const auto times =
      exchanged_times(draft.scenario, draft.graph, blocks, reduction == Reduction::buckets);
  std::array<std::vector<ParameterBucket>, 2> backward;
  std::array<std::size_t, 2> completed{};
  for (const auto& [op, gradient] : completed_gradients(draft.graph, blocks)) {
    const std::size_t kind = gradient.expert ? 1 : 0;
    auto& buckets = backward[kind];
    const std::size_t number = completed[kind]++;
    const bool begins =
        buckets.empty() || (number > 0 && number <= ends[kind].size() && ends[kind][number - 1]);
    if (begins) buckets.push_back({.group = groups[kind], .times = times[kind]});
    ParameterBucket& bucket = buckets.back();
    ++bucket.tensors;
    bucket.elements += gradient.elements;
    bucket.quantised += op->quantised * gradient.elements / gradient_elements(*op);
  }
  std::vector<ParameterBucket> forward;
  for (std::size_t kind = 0; kind < backward.size(); ++kind) {
    if (groups[kind].shape.ranks == 1) continue;
    forward.insert(forward.end(), backward[kind].rbegin(), backward[kind].rend());
  }
  return forward;
}

ParameterArrivals::ParameterArrivals(PassWriter& writer, PlanDraft& draft,
                                     std::vector<ParameterBucket> buckets, ParameterGather gather)
    : writer_(writer), draft_(draft), buckets_(std::move(buckets)), gather_(gather) {
  slots_.assign(buckets_.size(), -1);
  if (gather_ == ParameterGather::given) {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = static_cast<int>(i);
    writer_.take_slots(static_cast<int>(slots_.size()));
  }
  const auto experts = static_cast<std::size_t>(
      std::ranges::find_if(buckets_,
                           [](const ParameterBucket& bucket) { return bucket.group.expert; }) -
      buckets_.begin());
  next_ = {0, experts};
  end_ = {experts, buckets_.size()};
  there_ = {};
}

void ParameterArrivals::before(const Op& op) {
  for (const Item& item : op.backward) {
    if (const auto* ready = std::get_if<GradientReady>(&item)) ++needed_[ready->expert ? 1 : 0];
  }
  for (std::size_t kind = 0; kind < next_.size(); ++kind) {
    while (there_[kind] < needed_[kind] && next_[kind] < end_[kind]) {
      const std::size_t bucket = next_[kind]++;
      arrive(bucket);
      there_[kind] += buckets_[bucket].tensors;
      const bool follows = gather_ == ParameterGather::one_ahead && next_[kind] < end_[kind];
      if (follows) ask(next_[kind]);
    }
  }
}

/// Quantised parameters that products need by columns, too, are transposed as they come
/// (post_all_gather_processing of megatron/core/fp8_utils.py).
void ParameterArrivals::arrive(std::size_t bucket) {
  if (slots_[bucket] < 0) ask(bucket);
  writer_.wait(slots_[bucket]);
  const Training& training = draft_.scenario.training;
  const int copies =
      quantised_copies(training.quantisation(), draft_.scenario.cluster.gpu.architecture);
  const double quantised = training.fp8_parameters ? buckets_[bucket].quantised : 0;
  if (copies == 1 || quantised == 0) return;
  writer_.move("transpose weights", Bytes{2 * quantised_bytes(training.quantisation()) * quantised},
               Cause::optimizer);
}

void ParameterArrivals::ask(std::size_t bucket) {
  const ParameterBucket& b = buckets_[bucket];
  slots_[bucket] = writer_.start(b.group.gather, CollectiveOp::all_gather,
                                 b.bytes(draft_.scenario.training), b.group.shape);
}

}  // namespace stepsim
