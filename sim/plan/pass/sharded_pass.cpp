// When a framework asks for the parameters of a block, and what it does with its gradients.
#include "sim/plan/pass/sharded_pass.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/ops/style/style.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/pass/gathered_parameters.hpp"
#include "sim/plan/pass/recompute.hpp"

namespace stepsim {
namespace {

/// Whether a loop over layers copies what one iteration gathers, or leaves to be reduced, for the
/// next one.
bool copies_for_loop(const Scenario& s) {
  const DataParallel& data = s.parallelism.data;
  return named_style(s.training).copies_for_loop && s.training.scan_layers && data.overlap &&
         data.forward_prefetch && data.backward_prefetch != Prefetch::none;
}

/// Parameters of the block that are replicated over that group.
double elements_of(const Block& block, const ParameterGroup& group) {
  const double experts = block.expert_parameters();
  return group.expert ? experts : block.parameters() - experts;
}

/// Casts this rank's part of weights that are gathered narrower than they are kept: in fp8 or nvfp4,
/// or in the type of products (pytorch/pytorch torch/distributed/fsdp/_fully_shard/_fsdp_param.py,
/// all_gather_inputs). `elements`: all of which that many are `quantised`.
void cast_share(PassWriter& writer, const Training& training, double elements, double quantised,
                const ParameterGroup& group, Cause cause) {
  const double in_scales = training.fp8_parameters ? quantised : 0;
  const double narrow = cast_bytes(training.quantisation(), 1) * in_scales;
  double bytes = narrow;
  if (training.parameter_element() > training.gathered_element())
    bytes += (training.parameter_element() + training.gathered_element()) * (elements - in_scales);
  if (bytes == 0) return;
  const double slower = (cast_slower(training.quantisation()) * narrow + (bytes - narrow)) / bytes;
  writer.move("cast share of weights", Bytes{bytes / group.shape.ranks}, cause, slower);
}

/// A pass of one block, for which its parameters are gathered.
struct Visit {
  std::size_t block = 0;  ///< index into OpGraph::blocks
  Recomputation how;      ///< that the pass does itself
  bool again = false;     ///< backward: the forward pass of a group, once more
  bool begins = false;    ///< the first of its span
};
using Visits = std::vector<Visit>;

std::vector<RecomputeSpan> spans_of(const PlanDraft& draft,
                                    const std::vector<std::size_t>& blocks) {
  return recompute_spans(draft.scenario.training.recompute, draft.graph, blocks);
}

Visits forward_visits(const PlanDraft& draft, const std::vector<std::size_t>& blocks) {
  Visits visits;
  for (const RecomputeSpan& span : spans_of(draft, blocks)) {
    for (std::size_t i = span.begin; i < span.end; ++i)
      visits.push_back({blocks[i], span.how, false, i == span.begin});
  }
  return visits;
}

/// Blocks that are recomputed as one run forward again before the first of them runs backward. Each
/// pass is one of hooks that gather before it and give up behind it (pytorch/pytorch
/// torch/distributed/fsdp/_fully_shard/_fsdp_state.py, _pre_forward, _post_forward; deepspeedai/
/// DeepSpeed deepspeed/runtime/zero/parameter_offload.py). `blocks`: in order of the model.
Visits backward_visits(const PlanDraft& draft, const std::vector<std::size_t>& blocks,
                       PassKind pass) {
  const auto spans = spans_of(draft, blocks);
  Visits visits;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    const bool as_one = span->size() > 1;
    const bool repeats = as_one && pass != PassKind::weight_gradient;
    for (std::size_t i = span->begin; repeats && i < span->end; ++i)
      visits.push_back({blocks[i], {}, true, i == span->begin});
    for (std::size_t i = span->end; i-- > span->begin;)
      visits.push_back({blocks[i], as_one ? Recomputation{} : span->how});
  }
  return visits;
}

/// The blocks of one pass of ZeRO 3: each is gathered before it runs, one block ahead of it where
/// that is wanted, so that two are there at a time. What the host issues when is the framework's:
/// `prefetch` (see DataParallel).
class GatheredPass {
 public:
  GatheredPass(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
               Prefetch prefetch, Cause cause)
      : writer_(writer),
        draft_(draft),
        shape_(shape),
        cause_(cause),
        data_(draft.scenario.parallelism.data),
        prefetch_(data_.overlap ? prefetch : Prefetch::none),
        copies_for_loop_(copies_for_loop(draft.scenario)) {}

  /// `gathers(visit)`: whether it has to be; `run(visit, block)` does its work; `finish(visit,
  /// block)` comes after the next block has been asked for.
  template <class Gathers, class Run, class Finish>
  void run(const Visits& visits, Gathers gathers, Run run, Finish finish) {
    slots_.assign(visits.size(), {});
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const auto ask = [&](std::size_t visit, int held) {
        const Block& asked = draft_.graph.blocks[visits[visit].block];
        if (!gathers(visits[visit]) || !has_parameters_to_gather(asked)) return;
        if (held > 0 && data_.limit_all_gathers) writer_.hold(held);
        slots_[visit] = gather(asked, held > 0);
      };
      const Block& block = draft_.graph.blocks[visits[i].block];
      const bool has_next = i + 1 < visits.size();
      if (i == 0 || prefetch_ == Prefetch::none) ask(i, 0);
      writer_.begin_block();
      if (has_next && prefetch_ == Prefetch::pre) ask(i + 1, 2);
      for (const int slot : slots_[i]) writer_.wait(slot);
      if (data_.copy_out && !slots_[i].empty()) copy_out(block);
      if (!slots_[i].empty()) copy_for_loop(block);
      run(visits[i], block);
      if (has_next && prefetch_ == Prefetch::post) ask(i + 1, 1);
      finish(visits[i], block);
    }
  }

 private:
  bool has_parameters_to_gather(const Block& block) const {
    return gathered_elements(draft_.scenario, block, false).each_pass > 0 ||
           gathered_elements(draft_.scenario, block, true).each_pass > 0;
  }

  Bytes gathered(const Block& block) const {
    return gathered_bytes(draft_.scenario, block, false) +
           gathered_bytes(draft_.scenario, block, true);
  }

  /// A loop of XLA's carries what it gathers for its next iteration in buffers of its own, from
  /// which this one's kernels still read while the gather writes; so it is copied there in between
  /// (openxla/xla xla/service/gpu/gpu_compiler.cc, AddDoubleBufferingPasses: unrolling by two is
  /// "mostly to get rid of extra D2D copies"; its pull request 5473).
  void copy_for_loop(const Block& block) {
    if (!copies_for_loop_ || !block.recomputable) return;
    writer_.move("copy parameters for the loop", 2.0 * gathered(block), cause_);
  }

  /// FSDP2 gathers all parameters of a block in one buffer, and copies them to tensors of their own
  /// when the block begins, which have the types that were gathered (pytorch/pytorch
  /// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_all_gather_copy_out;
  /// _fsdp_param.py, init_all_gather_outputs).
  void copy_out(const Block& block) {
    writer_.move("copy parameters out", 2.0 * gathered(block), cause_);
  }

  std::vector<int> gather(const Block& block, bool beside) {
    std::vector<int> slots;
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      const Bytes bytes = gathered_bytes(draft_.scenario, block, group.expert);
      if (group.shape.ranks == 1 || bytes == Bytes{0}) continue;
      double quantised = 0;
      for (const Op& op : block.dag.ops) quantised += op.expert == group.expert ? op.quantised : 0;
      const double elements = gathered_elements(draft_.scenario, block, group.expert).each_pass;
      cast_share(writer_, draft_.scenario.training, elements, quantised, group, cause_);
      slots.push_back(
          writer_.start(group.gather, CollectiveOp::all_gather, bytes, group.shape, beside));
    }
    return slots;
  }

  PassWriter& writer_;
  const PlanDraft& draft_;
  const StageShape& shape_;
  Cause cause_;
  const DataParallel& data_;
  Prefetch prefetch_;
  bool copies_for_loop_;
  std::vector<std::vector<int>> slots_;  ///< by visit; none where it is here already
};

/// Whether a block that forward gathered is not there any more in backward.
bool was_resharded(const PlanDraft& draft, const Block& block) {
  const Reshard reshard = draft.scenario.parallelism.data.reshard_after_forward;
  return reshard == Reshard::all || (reshard == Reshard::layers && block.recomputable);
}

/// What FSDP does with a block's gradients before they are scattered: they become one flat tensor
/// (backward of the views into the gathered parameters), of the type in which they are reduced, and
/// are divided by a part of the ranks (pytorch/pytorch torch/distributed/fsdp/_runtime_utils.py,
/// _reduce_grad). DeepSpeed's ZeRO 3 copies and divides, too. What XLA scatters is what the
/// product put out (openxla/xla xla/service/reduce_scatter_creator.h), of a loss that is a mean;
/// but where a loop hands it to its next iteration to be reduced there it is copied, as parameters
/// are.
void flatten_gradients(PassWriter& writer, const Scenario& scenario, const Block& block,
                       double elements) {
  const double computed = scenario.training.gathered_element();
  const double reduced = gradient_bytes(scenario);
  if (named_style(scenario.training).scatters_products) {
    if (copies_for_loop(scenario) && block.recomputable)
      writer.move("copy gradients for the loop", Bytes{2 * reduced * elements});
    return;
  }
  writer.move("flatten gradients", Bytes{2 * computed * elements});
  if (reduced != computed) writer.move("cast gradients", Bytes{(computed + reduced) * elements});
  writer.move("divide gradients", Bytes{2 * reduced * elements});
}

/// Reduces the block's gradients; returns the slots that may have to be waited for: with overlap
/// only what the next block's reduction would wait for.
std::vector<int> scatter_gradients(PassWriter& writer, const PlanDraft& draft,
                                   const StageShape& shape, const Block& block) {
  std::vector<int> slots;
  for (const ParameterGroup& group : parameter_groups(shape)) {
    const double elements = elements_of(block, group);
    const Bytes gradients{elements * gradient_bytes(draft.scenario)};
    if (group.is_alone() || gradients == Bytes{0}) continue;
    flatten_gradients(writer, draft.scenario, block, elements);
    const auto started = writer.start_reduction(group, gradients);
    slots.push_back(draft.scenario.parallelism.data.overlap ? started.scattered : started.reduced);
  }
  return slots;
}

/// The blocks of one pass by XLA, in a loop over layers without collective pipelining: what the
/// body of a loop starts ends in it. A block's tensors are asked for one by one as its pass begins,
/// in the order of their use, each is waited for where it is used, and the gradients of an op are
/// reduced as soon as they are there (openxla/xla xla/service/latency_hiding_scheduler.h; combining
/// ends at 30 MiB, less than one matrix: xla/service/gpu/gpu_hlo_schedule.cc).
class LoopPass {
 public:
  LoopPass(PassWriter& writer, const PlanDraft& draft, const StageShape& shape, Cause cause)
      : writer_(writer), draft_(draft), shape_(shape), cause_(cause) {}

  void gather(const std::vector<const Op*>& ops) {
    writer_.begin_block();
    for (const Op* op : ops) {
      for (const ParameterGroup& group : parameter_groups(shape_)) {
        const Bytes bytes = gathered_bytes(draft_.scenario, *op);
        if (group.expert != op->expert || group.shape.ranks == 1 || bytes == Bytes{0}) continue;
        cast_share(writer_, draft_.scenario.training, gathered_elements(draft_.scenario, *op),
                   op->quantised, group, cause_);
        gathers_[op] = writer_.start(group.gather, CollectiveOp::all_gather, bytes, group.shape);
      }
    }
  }

  void wait_for(const Op& op) {
    const auto found = gathers_.find(&op);
    if (found == gathers_.end()) return;
    writer_.wait(found->second);
    gathers_.erase(found);
  }

  void reduce(const Op& op) {
    const double elements = std::accumulate(op.parameters.begin(), op.parameters.end(), 0.0);
    if (elements == 0) return;
    for (const ParameterGroup& group : parameter_groups(shape_)) {
      if (group.expert != op.expert || group.is_alone()) continue;
      const Bytes gradients{elements * gradient_bytes(draft_.scenario)};
      reductions_.push_back(writer_.start_reduction(group, gradients).reduced);
    }
  }

  void end_block() {
    for (const int slot : reductions_) writer_.wait(slot);
    reductions_.clear();
  }

 private:
  PassWriter& writer_;
  const PlanDraft& draft_;
  const StageShape& shape_;
  Cause cause_;
  std::map<const Op*, int> gathers_;
  std::vector<int> reductions_;
};

void run_loop_backward(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
                       const Visits& visits, PassKind pass, bool reduces) {
  LoopPass loop(writer, draft, shape, Cause::backward);
  AroundOps around{.before = [&](const Op& op) { loop.wait_for(op); }};
  if (reduces) around.after = [&](const Op& op) { loop.reduce(op); };
  for (const Visit& visit : visits) {
    const Block& block = draft.graph.blocks[visit.block];
    std::vector<const Op*> ops = block.order();
    // Forward again comes first.
    if (block.recomputed(visit.how).empty()) std::ranges::reverse(ops);
    loop.gather(was_resharded(draft, block) ? ops : std::vector<const Op*>{});
    run_backward(writer, block, visit.how, pass, around);
    loop.end_block();
  }
}

}  // namespace

bool shards_parameters(const PlanDraft& draft, const StageShape& shape) {
  return draft.scenario.parallelism.data.sharding.shards_parameters &&
         shape.of(Channel::data).ranks > 1;
}

bool keeps_gathered(const PlanDraft& draft, const StageShape& shape) {
  return shards_parameters(draft, shape) && draft.scenario.parallelism.data.keeps_gathered();
}

void run_sharded_forward(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, bool gathers) {
  const DataParallel& data = draft.scenario.parallelism.data;
  const bool ahead = data.forward_prefetch;
  const Visits visits = forward_visits(draft, blocks);
  if (draft.scenario.training.scan_layers && data.overlap && !ahead) {
    LoopPass loop(writer, draft, shape, Cause::forward);
    const AroundOps around{.before = [&](const Op& op) { loop.wait_for(op); }};
    for (const Visit& visit : visits) {
      const Block& block = draft.graph.blocks[visit.block];
      loop.gather(gathers ? block.order() : std::vector<const Op*>{});
      run_forward(writer, block, Cause::forward, visit.how, around);
    }
    return;
  }
  GatheredPass(writer, draft, shape, ahead ? Prefetch::pre : Prefetch::post, Cause::forward)
      .run(
          visits, [&](const Visit&) { return gathers; },
          [&](const Visit& visit, const Block& block) {
            if (visit.begins && visit.how.kind == Recompute::full)
              writer.host().spend(host_cost::checkpoint.forward);
            run_forward(writer, block, Cause::forward, visit.how);
          },
          [](const Visit&, const Block&) {});
}

void run_sharded_backward(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction) {
  const DataParallel& data = draft.scenario.parallelism.data;
  const bool reduces = reduction != Reduction::none && completes_gradients(pass);
  const Visits visits = backward_visits(draft, blocks, pass);
  if (draft.scenario.training.scan_layers && data.overlap &&
      data.backward_prefetch == Prefetch::none)
    return run_loop_backward(writer, draft, shape, visits, pass, reduces);
  std::vector<int> last;
  const auto wait = [&] {
    for (const int slot : last) writer.wait(slot);
  };
  const auto scatter = [&](const Block& block) {
    if (!reduces || block.parameters() == 0) return;
    if (data.limit_reduce_scatters) wait();
    last = scatter_gradients(writer, draft, shape, block);
    if (!data.overlap) wait();
  };
  // Stages of PyTorch reduce when their last backward pass is done (pytorch/pytorch
  // torch/distributed/pipelining/stage.py, perform_reduce_grad).
  const bool behind = data.keeps_gathered() && draft.scenario.parallelism.pipeline.stages > 1;
  GatheredPass(writer, draft, shape, data.backward_prefetch, Cause::backward)
      .run(
          visits,
          [&](const Visit& visit) {
            const Block& block = draft.graph.blocks[visit.block];
            // Gradients of weights are products of what passes have kept.
            return pass != PassKind::weight_gradient && was_resharded(draft, block) &&
                   (visit.again || block.has_gradient());
          },
          [&](const Visit& visit, const Block& block) {
            if (!visit.again) return run_backward(writer, block, visit.how, pass);
            if (visit.begins) writer.host().spend(host_cost::checkpoint.backward);
            run_forward(writer, block, Cause::recompute);
          },
          [&](const Visit& visit, const Block& block) {
            if (!behind && !visit.again) scatter(block);
          });
  for (auto block = blocks.rbegin(); behind && block != blocks.rend(); ++block)
    scatter(draft.graph.blocks[*block]);
}

}  // namespace stepsim
