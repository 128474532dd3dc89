// Experts' mesh and the way of tokens to them (NVIDIA/Megatron-LM megatron/training/arguments.py
// and megatron/core/transformer/moe/token_dispatcher.py).
#include <fmt/format.h>

#include "sim/import/megatron/megatron.hpp"
#include "sim/scenario/parallelism.hpp"

namespace stepsim {
namespace {

/// A library whose kernels exchange tokens, where --moe-token-dispatcher-type is flex.
struct FlexBackend {
  const char* name;  ///< in a scenario
  std::int64_t sms;
  std::int64_t preset_sms;
};

/// Options of all backends are read, so that none of them is unknown.
FlexBackend backend_of(MegatronOptions& o, bool is_deep) {
  const FlexBackend deep{"deepep", o.integer("moe-deepep-num-sms", kDeepEpSms), kDeepEpSms};
  const FlexBackend hybrid{"hybrid_ep", o.integer("moe-hybridep-num-sms", kHybridEpSms),
                           kHybridEpSms};
  FlexBackend backend = is_deep ? deep : hybrid;
  const std::int64_t stated = o.integer("moe-flex-dispatcher-num-sms", 0);
  if (stated > 0) backend.sms = stated;
  return backend;
}

/// Megatron-LM's own checks see to it that passes can run in pairs.
void write_dispatcher(MegatronOptions& o, const MegatronExperts& experts, Entries& e,
                      Draft& draft) {
  const std::string dispatcher = o.choice(
      "moe-token-dispatcher-type", {"allgather", "alltoall", "alltoall_seq", "flex"}, "allgather");
  const bool enabled = o.is_on("moe-enable-deepep");
  const std::string library =
      o.choice("moe-flex-dispatcher-backend", {"deepep", "hybridep", "ncclep"}, "deepep");
  const bool is_deep = enabled || library == "deepep";
  const FlexBackend backend = backend_of(o, is_deep);
  const bool pairs = o.is_on("overlap-moe-expert-parallel-comm");
  const bool of_pairs = o.is_on("delay-wgrad-compute");
  const bool delays = of_pairs || o.is_on("overlap-dispatch-backward-with-experts-wgrad");
  if (experts.degree == 1) return;
  if (dispatcher == "flex" && (is_deep || library == "hybridep") && experts.tensor == 1) {
    e.push_back(fmt::format("dispatcher: {}", backend.name));
    if (backend.sms != backend.preset_sms) e.push_back(fmt::format("sms: {}", backend.sms));
  } else if (dispatcher == "allgather") {
    e.emplace_back("dispatcher: all_gather");
  } else if (!dispatcher.starts_with("alltoall")) {
    draft.note("--moe-token-dispatcher-type " + dispatcher,
               "tokens reach their experts by all-to-all");
  }
  if (pairs) e.emplace_back("overlap: true");
  if (delays) e.emplace_back("delay_wgrad: true");
  if (o.is_on("moe-shared-expert-overlap")) e.emplace_back("overlap_shared: true");
}

/// Why a router that pads spares nothing; "": it spares copies of rows.
std::string why_padding_is_idle(MegatronOptions& o, const Entries& e) {
  const auto has = [&](const char* entry) { return std::ranges::find(e, entry) != e.end(); };
  if (!o.has("fp8-format") && !o.has("fp4-format"))
    return "Megatron-LM asks for --fp8-format or --fp4-format beside it; products of 16 bits need "
           "no padding";
  // Megatron-DeepSpeed has none of Transformer Engine's.
  if (o.text("transformer-impl", o.has("deepspeed") ? "local" : "") == "local")
    return "without Transformer Engine's linear layers no rows are padded";
  if (!o.word("moe-expert-capacity-factor", "-1").starts_with('-'))
    return "rows of experts are padded to their capacity";
  if (has("dispatcher: hybrid_ep")) return "HybridEP pads rows on their way by itself";
  if (has("dispatcher: all_gather")) return "Megatron-LM refuses it for gathers of all tokens";
  return "";
}

void write_padding(MegatronOptions& o, Entries& e, Draft& draft) {
  const bool was_on = o.is_on("moe-router-padding-for-fp8");
  const bool is_on = o.is_on("moe-router-padding-for-quantization");
  if (!was_on && !is_on) return;
  const std::string idle = why_padding_is_idle(o, e);
  if (idle.empty()) {
    e.emplace_back("router_padding: true");
    return;
  }
  draft.note(is_on ? "--moe-router-padding-for-quantization" : "--moe-router-padding-for-fp8",
             idle);
}

void write_fusions(MegatronOptions& o, Entries& e, Draft& draft) {
  if (!o.is_on("moe-router-fusion")) e.emplace_back("router_fusion: false");
  // HybridEP's kernels permute by themselves.
  const bool permutes = std::ranges::find(e, "dispatcher: hybrid_ep") != e.end();
  if (!o.is_on("moe-permute-fusion") && !permutes) e.emplace_back("permute_fusion: false");
  write_padding(o, e, draft);
  if (o.is_on("moe-use-grouped-tensor")) e.emplace_back("grouped_kernel: true");
}

}  // namespace

void write_megatron_experts(MegatronOptions& o, const MegatronExperts& experts, Draft& draft) {
  Entries e;
  if (experts.degree > 1) e.push_back(fmt::format("degree: {}", experts.degree));
  if (experts.tensor != experts.tensor_of_layers)
    e.push_back(fmt::format("tensor: {}", experts.tensor));
  write_dispatcher(o, experts, e, draft);
  write_fusions(o, e, draft);
  // A negative factor is none.
  const std::string capacity = o.word("moe-expert-capacity-factor", "-1");
  if (!capacity.starts_with('-')) {
    e.push_back("capacity: " + capacity);
    if (!o.is_on("moe-pad-expert-input-to-capacity"))
      draft.note(o.shown("moe-expert-capacity-factor"), "experts' rows are padded to it");
  }
  draft.map("  expert", e);
}

}  // namespace stepsim
