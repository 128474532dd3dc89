// The conditions of sim/scenario/check/, one by one.
#include "sim/search/refusal.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/scenario/check/check_lora.hpp"
#include "sim/scenario/check/check_pipeline.hpp"
#include "sim/scenario/check/check_precision.hpp"
#include "sim/scenario/check/dispatch_objections.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

bool divides(std::int64_t divisor, std::int64_t number) { return number % divisor == 0; }

bool tensor_fits(const Scenario& s, const Transformer& t) {
  const std::int64_t tensor = s.parallelism.tensor;
  if (tensor == 1) return true;
  if (!divides(tensor, t.heads) || !divides(tensor, t.hidden)) return false;
  const CrossEntropy loss = s.training.cross_entropy;
  if (loss == CrossEntropy::torch || loss == CrossEntropy::xentropy) return false;
  if ((!t.experts || t.experts->dense_layers > 0) && !divides(tensor, t.ffn)) return false;
  return t.mla || divides(tensor, t.kv_heads) || divides(t.kv_heads, tensor);
}

bool sequence_fits(const Scenario& s) {
  if (!s.parallelism.sequence) return true;
  const std::int64_t tensor = s.parallelism.tensor;
  return tensor > 1 && divides(tensor, s.sequence_length()) && divides(tensor, s.target_length());
}

bool context_fits(const Scenario& s, const Transformer& t) {
  const Parallelism& p = s.parallelism;
  const std::int64_t n = p.context.degree;
  if (n == 1) return true;
  if (t.encoder_layers > 0 || t.relative_positions > 0) return false;
  if (p.context.kind == ContextKind::all_to_all) {
    const std::int64_t heads = t.heads / p.tensor;
    const std::int64_t kv_heads = t.mla ? heads : std::max<std::int64_t>(t.kv_heads / p.tensor, 1);
    if (!divides(n, heads) || !divides(n, kv_heads)) return false;
  }
  const std::int64_t parts = p.sequence ? n * p.tensor : n;
  return divides(2 * parts, s.sequence_length()) && is_fused_attention(s.training.attention);
}

bool pairs_fit(const Scenario& s, const Schedule& schedule) {
  const Parallelism& p = s.parallelism;
  if (!p.expert.overlap.value_or(false)) return true;
  return can_join(schedule.needs.joins, p.pipeline.stages) && p.expert.degree > 1;
}

bool experts_fit(const Scenario& s, const Transformer& t) {
  if (!t.experts) return s.parallelism.expert.degree == 1;
  const Parallelism& p = s.parallelism;
  const Experts& e = *t.experts;
  if (p.tensor > 1 &&
      (!p.sequence || !divides(p.tensor, e.ffn) || !divides(p.tensor, e.shared_ffn)))
    return false;
  if (!divides(p.expert.degree, e.count) || !divides(p.expert.degree, s.replicas())) return false;
  if (!dispatch_objections(s, e).empty()) return false;
  if (!pairs_fit(s, schedule_of(s))) return false;
  return p.expert.capacity || p.expert.imbalance <= p.expert.degree;
}

bool model_fits(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr) {
    const bool one_piece = t->encoder_layers > 0 || t->relative_positions > 0;
    if (one_piece && p.pipeline.stages > 1) return false;
    return tensor_fits(s, *t) && experts_fit(s, *t) && context_fits(s, *t) && sequence_fits(s) &&
           lora_objections(s).empty();
  }
  return p.tensor == 1 && !p.sequence && p.context.degree == 1 && p.expert.degree == 1 &&
         (p.pipeline.stages == 1 || std::holds_alternative<Mlp>(s.model.shape));
}

bool order_fits(const Scenario& s) {
  const auto& order = s.parallelism.order.axes;
  return std::all_of(kOrderedAxes.begin(), kOrderedAxes.end(), [&](Axis axis) {
    return degree_of(axis, s) == 1 || std::find(order.begin(), order.end(), axis) != order.end();
  });
}

bool pipeline_fits(const Scenario& s, const Schedule& schedule) {
  const Pipeline& p = s.parallelism.pipeline;
  const ScheduleNeeds& needs = schedule.needs;
  if (needs.least_chunks > 1 && p.stages < 2) return false;
  if (needs.overlaps && !p.overlap_p2p) return false;
  if (p.batch_p2p_sync && p.overlap_p2p) return false;
  return needs.objection == nullptr || needs.objection(p.stages, s.micro_batches()).empty();
}

bool recompute_fits(const Scenario& base, const Strategy& v) {
  const auto* t = std::get_if<Transformer>(&base.model.shape);
  if (v.recompute == Recompute::selective) return t != nullptr;
  if (v.recompute == Recompute::none) return true;
  if (std::holds_alternative<Dlrm>(base.model.shape)) return false;
  return v.recomputed_layers == 0 || v.sharding != Sharding::zero3;
}

}  // namespace

bool frame_fits(const Scenario& scenario, const Strategy& frame) {
  const std::int64_t pass = frame.micro_batch * frame.data();
  return divides(pass, scenario.training.global_batch) && model_fits(scenario) &&
         order_fits(scenario) && pipeline_fits(scenario, *frame.schedule);
}

bool variant_fits(const Scenario& base, const Strategy& v) {
  if (v.stages > 1 && v.sharding == Sharding::zero3) return false;
  if (v.stages > 1 && v.sharding == Sharding::zero2 && !v.schedule->needs.takes_turns) return false;
  if (v.sharding == Sharding::zero3 && base.parallelism.expert.overlap.value_or(false))
    return false;
  if (base.training.fp8_parameters && !has_fp8_parameters(base.training, v.sharding)) return false;
  const bool on_one = base.parallelism.bottom_mlp == BottomMlp::first;
  const bool whole = on_one || optimizer_rule(base.training).whole_tensors;
  if (v.sharding != Sharding::ddp && whole) return false;
  return recompute_fits(base, v);
}

}  // namespace stepsim
