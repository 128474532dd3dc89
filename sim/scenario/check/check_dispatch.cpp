// The sentences about dispatchers.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

class DispatchRules {
 public:
  DispatchRules(const Scenario& scenario, const KeyReports& keys)
      : s_(scenario), e_(scenario.parallelism.expert), keys_(keys) {}

  void check() const {
    if (e_.grouped_kernel && s_.training.transformer_impl == TransformerImpl::local)
      keys_.report({"parallelism.expert.grouped_kernel",
                    "leave it out, or state training.transformer_impl: transformer_engine"},
                   "without Transformer Engine's linear layers one kernel does the work of all "
                   "experts already");
    if (e_.router_padding) check_router_padding();
    if (e_.degree == 1) {
      check_alone();
    } else {
      check_dispatcher();
    }
  }

 private:
  /// Where no rows would be copied, the router has nothing to spare (NVIDIA/Megatron-LM
  /// megatron/core/transformer/moe/moe_utils.py, skip_routed_expert_padding; it refuses the key
  /// beside types of 16 bits and beside all_gather, transformer_config.py).
  void check_router_padding() const {
    const auto refuse = [&](const char* proposal, const std::string& why) {
      keys_.report({"parallelism.expert.router_padding", proposal}, "{}", why);
    };
    const char* leave = "leave it out";
    if (!needs_scales(s_.training.precision)) {
      refuse(leave, fmt::format("rows are padded for products of 8 and of 4 bits, but precision is "
                                "{}",
                                name_of(s_.training.precision)));
    } else if (s_.training.transformer_impl == TransformerImpl::local) {
      refuse("leave it out, or state training.transformer_impl: transformer_engine",
             "without Transformer Engine's linear layers no rows are padded");
    } else if (e_.capacity) {
      refuse("leave one of them out", "with a capacity the rows of experts are padded to it");
    } else if (e_.degree > 1 && e_.dispatcher == Dispatcher::hybrid_ep) {
      refuse(leave, "hybrid_ep pads rows on their way, whatever the router does");
    } else if (e_.degree > 1 && e_.dispatcher == Dispatcher::all_gather) {
      refuse("leave it out, or state another dispatcher",
             "all_gather is not for routers that pad: their rows go by all_to_all or deepep");
    }
  }

  /// Where each rank has all experts no token is sent anywhere.
  void check_alone() const {
    const std::pair<const char*, bool> idle[] = {{"dispatcher", e_.dispatcher != Dispatcher{}},
                                                 {"fp8_dispatch", e_.fp8_dispatch},
                                                 {"sms", e_.sms.has_value()},
                                                 {"overlap_shared", e_.overlap_shared},
                                                 {"delay_wgrad", e_.delay_wgrad}};
    for (const auto& [key, is_stated] : idle) {
      if (is_stated)
        keys_.report({std::string("parallelism.expert.") + key, "leave it out"},
                     "{} is about exchanges of tokens, but with expert degree 1 there are none",
                     key);
    }
  }

  void check_shared() const {
    const auto& model = std::get<Transformer>(s_.model.shape);
    const Recomputation& recompute = s_.training.recompute;
    if (model.experts->shared_ffn == 0) {
      keys_.report({"parallelism.expert.overlap_shared", "leave it out"},
                   "the model has no shared experts");
    } else if (e_.overlap.value_or(false)) {
      keys_.report({"parallelism.expert.overlap_shared", "leave one of them out"},
                   "exchanges run beside the other pass already, with overlap: true");
    } else if (recompute.kind == Recompute::selective &&
               recompute.repeats(RecomputeModule::shared_experts)) {
      keys_.report({"parallelism.expert.overlap_shared"},
                   "shared experts that are recomputed by themselves do not run beside exchanges");
    }
  }

  void check_dispatcher() const {
    if (e_.overlap_shared) check_shared();
    const int sms = s_.cluster.gpu.sms;
    if (e_.sms && *e_.sms >= sms)
      keys_.report({"parallelism.expert.sms"},
                   "sms {} are set aside for exchanges, but the GPU has {}: none are "
                   "left for kernels",
                   *e_.sms, sms);
    if (e_.dispatcher == Dispatcher::all_gather) check_all_gather();
    if (!sends_once(e_.dispatcher)) return;
    const std::string name{name_of(e_.dispatcher)};
    if (e_.dispatcher == Dispatcher::hybrid_ep && !e_.permute_fusion)
      keys_.report({"parallelism.expert.permute_fusion", "leave it out"},
                   "{} permutes rows in its own kernels", name);
    const int shares = e_.tensor.value_or(s_.parallelism.tensor);
    if (shares > 1)
      keys_.report({"parallelism.expert.dispatcher", "state expert.tensor: 1, or leave it out"},
                   "{} with experts that {} tensor ranks share: their tokens go by all_to_all or "
                   "all_gather alone",
                   name, shares);
    if (e_.capacity)
      keys_.report({"parallelism.expert.capacity"}, "capacity {}, but {} drops and pads no tokens",
                   *e_.capacity, name);
  }

  /// Nothing runs beside its collectives (NVIDIA/Megatron-LM megatron/training/arguments.py).
  void check_all_gather() const {
    const std::pair<const char*, bool> others[] = {{"fp8_dispatch", e_.fp8_dispatch},
                                                   {"overlap", e_.overlap.value_or(false)},
                                                   {"overlap_shared", e_.overlap_shared},
                                                   {"delay_wgrad", e_.delay_wgrad},
                                                   {"sms", e_.sms.has_value()}};
    for (const auto& [key, is_stated] : others) {
      if (is_stated)
        keys_.report({std::string("parallelism.expert.") + key, "leave it out"},
                     "{} is not for dispatcher all_gather, which gathers tokens as they are, with "
                     "nothing beside it",
                     key);
    }
  }

  const Scenario& s_;
  const ExpertParallel& e_;
  const KeyReports& keys_;
};

}  // namespace

void check_dispatch(const Scenario& scenario, const KeyReports& keys) {
  DispatchRules(scenario, keys).check();
}

}  // namespace stepsim
