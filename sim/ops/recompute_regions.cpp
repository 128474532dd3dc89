// The modules of a layer that selective recompute can drop, found by the names of its ops.
//
// Names and extent: NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py,
// recompute_modules. Core attention, MLPs and MoE layers are checkpoints: their input is kept and
// all of them runs again. Of norms, the experts' activation and MLA's up projections the output is
// dropped, which the layer behind them would have kept as its input (CheckpointWithoutOutput).
//
// attention and mlp_up are what policies of jax.checkpoint leave that name the products to keep:
// those to attention, so that it runs again with the product and the sum behind it, from which the
// norm before the MLP starts; and not the MLP's, whose last one backward does not need
// (AI-Hypercomputer/maxtext MaxText/layers/models.py, get_remat_policy; google/praxis
// praxis/layers/checkpoint_policy.py). What attention puts out has a name of its own there,
// "context", which save_qkv_proj leaves out: it is there again with the rest.
//
// every_second_matmul is torchtitan's (pytorch/torchtitan
// torchtitan/parallelisms/parallelize_llama.py, _save_list and _get_custom_policy): attention, what
// is scattered over tensor ranks and the first, third, fifth and seventh of a layer's products are
// kept (queries, values, gate, down), and all else runs again as far as the backward pass needs it:
// norms, casts, keys, rotary positions, the projection behind attention, up, the activation.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

using Names = std::initializer_list<std::string_view>;

constexpr HostCalls kNone{.modules = 0};

/// The op's calls, but for Python of the layer, which attention's op has.
void add_calls(RecomputeRegion& region, const Op& op) {
  HostCalls calls = op.calls;
  calls.layers = calls.engine_layers = 0;
  region.calls += calls;
}

struct Layer {
  explicit Layer(const Block& of) : block(of), ops(of.order()) {}

  const Op* find(std::string_view name) const {
    const auto found = std::ranges::find_if(ops, [&](const Op* op) { return op->name == name; });
    return found == ops.end() ? nullptr : *found;
  }

  std::size_t index(const Op* op) const {
    return static_cast<std::size_t>(op - block.dag.ops.data());
  }

  /// A region that runs those of these ops again that the layer has; `before` is the last of them.
  RecomputeRegion region(RecomputeModule module, Names names) const {
    RecomputeRegion result{.module = module, .calls = kNone};
    for (const std::string_view name : names) {
      const Op* op = find(name);
      if (op == nullptr) continue;
      if (result.forward.empty()) result.first = index(op);
      result.before = index(op);
      result.forward.insert(result.forward.end(), op->forward.begin(), op->forward.end());
      add_calls(result, *op);
      result.dropped += op->saved;
      (op->core_attention ? result.flops.attention : result.flops.products) += op->flops;
    }
    return result;
  }

  /// A checkpoint: what its first op reads is kept.
  void add_checkpoint(std::vector<RecomputeRegion>& regions, RecomputeModule module,
                      Names names) const {
    RecomputeRegion result = region(module, names);
    if (result.forward.empty()) return;
    Bytes input;
    for (const std::string_view name : names) {
      if (const Op* op = find(name); op != nullptr && input == Bytes{0}) input = op->saved_input;
    }
    result.dropped -= input;
    regions.push_back(std::move(result));
  }

  /// The MLP but for its last product, which keeps its input: without that, and before it.
  void add_mlp_up(std::vector<RecomputeRegion>& regions) const {
    const Op* up = find("mlp up");
    const Op* down = find("mlp down");
    if (up == nullptr || down == nullptr) return;
    RecomputeRegion result = region(RecomputeModule::mlp_up, {"mlp up", "activation", "swiglu"});
    result.before = index(down);
    result.dropped += down->saved_input - up->saved_input;
    // The operand of "mlp down" is quantised again, its weights are not.
    std::copy_if(down->forward.begin(), down->forward.end(), std::back_inserter(result.forward),
                 [](const Item& item) {
                   const auto* launch = std::get_if<Launch>(&item);
                   return launch != nullptr && launch->name == "mlp down cast";
                 });
    regions.push_back(std::move(result));
  }

  /// Attention up to the sum behind it, which the norm behind that keeps. It is there again before
  /// all that the sum leads to.
  void add_attention(std::vector<RecomputeRegion>& regions) const {
    const auto core = std::ranges::find_if(ops, [](const Op* op) { return op->core_attention; });
    const auto sum = std::find_if(core, ops.end(),
                                  [](const Op* op) { return op->name == "attention residual"; });
    if (sum == ops.end()) return;
    RecomputeRegion result =
        region(RecomputeModule::attention, {(*core)->name, "projection", "attention residual"});
    result.dropped = (*core)->saved_scores + (*sum)->saved;
    if (const Op* projection = find("projection")) result.dropped += projection->saved_input;
    if (std::next(sum) != ops.end() && (*std::next(sum))->name.ends_with(" norm"))
      result.dropped += (*std::next(sum))->saved;
    for (const std::string_view name : {"mlp down", "combine", "shared experts sum"}) {
      if (const Op* op = find(name)) result.before = index(op);
    }
    regions.push_back(std::move(result));
  }

  /// The norm's output, which its readers keep; it is there again before the backward pass of all
  /// that the norm leads to, whose last op is the last one found of `last`.
  void add_norm(std::vector<RecomputeRegion>& regions, std::string_view norm, Names readers,
                Names last) const {
    if (find(norm) == nullptr) return;
    RecomputeRegion result = region(RecomputeModule::layernorm, {norm});
    result.dropped = Bytes{0};
    for (const std::string_view name : readers) {
      const Op* op = find(name);
      if (op == nullptr) continue;
      if (result.dropped == Bytes{0}) result.first = index(op);
      result.dropped += op->saved_input;
    }
    for (const std::string_view name : last) {
      if (const Op* op = find(name)) result.before = index(op);
    }
    if (result.dropped > Bytes{0}) regions.push_back(std::move(result));
  }

  void add_core(std::vector<RecomputeRegion>& regions) const {
    for (const Op* op : ops) {
      if (!op->core_attention) continue;
      RecomputeRegion up =
          region(RecomputeModule::mla_up_proj, {"query up", "kv up", "latent heads"});
      up.before = up.first = index(op);
      up.dropped = op->saved - op->saved_scores;
      if (!up.forward.empty()) regions.push_back(std::move(up));
      regions.push_back({.module = RecomputeModule::core_attention,
                         .before = index(op),
                         .first = index(op),
                         .forward = op->forward,
                         .calls = kNone,
                         .dropped = op->saved_scores,
                         .flops = {Flops{0}, op->flops}});
      add_calls(regions.back(), *op);
    }
  }

  static bool is_product(const Item& item) {
    const auto* launch = std::get_if<Launch>(&item);
    return launch != nullptr && !std::holds_alternative<MemoryBound>(launch->work);
  }

  static bool scatters(const Op& op) {
    return std::ranges::any_of(op.forward, [](const Item& item) {
      const auto* start = std::get_if<StartCollective>(&item);
      return start != nullptr && start->op == CollectiveOp::reduce_scatter;
    });
  }

  /// What comes before the op's product, or all of an op that has none.
  static auto product_of(const Op& op) { return std::ranges::find_if(op.forward, is_product); }

  void add_every_second(std::vector<RecomputeRegion>& regions) const {
    const Op* queries = find("queries");
    const Op* keys = find("keys");
    const Op* values = find("values");
    const Op* projection = find("projection");
    const Op* up = find("mlp up");
    const Op* down = find("mlp down");
    for (const Op* op : {queries, keys, values, projection, up, down}) {
      if (op == nullptr) return;
    }
    RecomputeRegion result{
        .module = RecomputeModule::every_second_matmul, .before = index(down), .calls = kNone};
    result.first = index(ops.front());
    const bool kept_sum = scatters(*projection);
    result.dropped -= ops.front()->saved + queries->output + values->output + down->output;
    result.dropped -= 0.5 * up->output;
    if (kept_sum) result.dropped -= projection->output;
    bool behind = false;
    for (const Op* op : ops) {
      result.dropped += op->saved;
      if (op->core_attention) result.dropped -= op->output + op->saved_scores;
      if (behind) continue;
      behind = op == down;
      add_calls(result, *op);
      const auto product = product_of(*op);
      result.forward.insert(result.forward.end(), op->forward.begin(), product);
      if (op == up) {
        // The gate is kept: half of the product that has both.
        Launch half = std::get<Launch>(*product);
        std::get<Gemm>(half.work).n /= 2;
        result.forward.emplace_back(std::move(half));
        result.flops.products += 0.5 * op->flops;
      } else if (op == keys || (op == projection && !kept_sum)) {
        result.forward.insert(result.forward.end(), product, op->forward.end());
        result.flops.products += op->flops;
      }
    }
    if (result.dropped > Bytes{0}) regions.push_back(std::move(result));
  }

  void add_expert_activation(std::vector<RecomputeRegion>& regions) const {
    const Op* op = find("experts");
    if (op == nullptr) return;
    RecomputeRegion result{.module = RecomputeModule::moe_act,
                           .before = index(op),
                           .first = index(op),
                           .calls = {.modules = 0, .functions = 1, .scripted = 1},
                           .dropped = op->saved_scores};
    for (const Item& item : op->forward) {
      const auto* launch = std::get_if<Launch>(&item);
      // The op of experts has no other host read than the one behind which clamps shift a half
      // (layer/expert_clamps.cpp), and who repeats the activation repeats it.
      const bool is_read = std::holds_alternative<HostRead>(item);
      if (is_read || (launch != nullptr && launch->name.starts_with("experts activation")))
        result.forward.push_back(item);
    }
    regions.push_back(std::move(result));
  }

  const Block& block;
  const std::vector<const Op*> ops;
};

}  // namespace

std::vector<RecomputeRegion> recompute_regions(const Block& block) {
  const Layer layer(block);
  std::vector<RecomputeRegion> regions;
  // Where queries are compressed the norm's reader is that layer.
  const bool down = layer.find("query down") != nullptr;
  layer.add_norm(regions, "attention norm",
                 {"qkv", "queries", "qkv adapter", "queries adapter", "keys adapter",
                  "values adapter", down ? "query down" : "query up"},
                 {"projection"});
  layer.add_norm(regions, "delta net norm", {"delta net in"}, {"delta net out"});
  layer.add_core(regions);
  layer.add_attention(regions);
  layer.add_norm(regions, "mlp norm", {"mlp up", "mlp up adapter", "router", "shared up"},
                 {"mlp down", "combine", "shared experts sum"});
  layer.add_checkpoint(regions, RecomputeModule::mlp,
                       {"mlp up", "activation", "swiglu", "mlp down"});
  layer.add_mlp_up(regions);
  layer.add_every_second(regions);
  if (layer.find("router") == nullptr) return regions;
  std::erase_if(regions, [](const auto& r) { return r.module == RecomputeModule::mlp; });
  layer.add_expert_activation(regions);
  layer.add_checkpoint(regions, RecomputeModule::shared_experts,
                       {"shared up", "activation", "swiglu", "shared down"});
  layer.add_checkpoint(regions, RecomputeModule::moe,
                       {"router", "dispatch", "experts", "combine", "shared up", "activation",
                        "swiglu", "shared down", "shared experts sum"});
  return regions;
}

}  // namespace stepsim
