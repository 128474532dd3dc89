// The optimizer of a run of Megatron-LM (NVIDIA/Megatron-LM megatron/training/arguments.py and
// megatron/core/optimizer/optimizer_config.py).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/import/megatron/megatron.hpp"
#include "sim/scenario/preconditioner.hpp"

namespace stepsim {
namespace {

/// Types of the optimizer's state, which its precision-aware form alone lets choose.
void add_moments(MegatronOptions& o, Entries& e, Draft& draft) {
  const std::vector<std::string> types{"fp32", "fp16", "bf16", "fp8"};
  const std::string first = o.choice("exp-avg-dtype", types, "fp32");
  const std::string second = o.choice("exp-avg-sq-dtype", types, "fp32");
  const std::string weights = o.choice("main-params-dtype", types, "fp32");
  if (!o.is_on("use-precision-aware-optimizer")) return;
  if (first != "fp32" || second != "fp32") e.push_back("moments: " + first);
  if (second != first) draft.note("--exp-avg-sq-dtype " + second, "both moments are " + first);
  if (weights != "fp32") draft.note("--main-params-dtype " + weights, "main parameters are fp32");
}

/// Writes the keys of Muon that differ from the defaults, which are torch.optim.Muon's.
void add_muon(MegatronOptions& o, Entries& e, Draft& draft) {
  Entries muon;
  const std::int64_t steps = o.positive("muon-num-ns-steps", 5);
  if (steps != 5) muon.push_back(fmt::format("steps: {}", steps));
  if (!o.is_on("muon-nesterov")) muon.emplace_back("nesterov: false");
  if (o.is_on("muon-no-split-qkv")) muon.emplace_back("split_qkv: false");
  if (o.is_on("muon-use-syrk")) muon.emplace_back("symmetric: true");
  const std::string mode =
      o.choice("muon-tp-mode", {"blockwise", "duplicated", "distributed"}, "duplicated");
  const bool splits = o.positive("tensor-model-parallel-size", 1) > 1 ||
                      o.positive("expert-tensor-parallel-size", 1) > 1;
  if (mode != "duplicated" && splits) muon.push_back("tensor_mode: " + mode);
  if (mode != "duplicated" && !splits)
    draft.note("--muon-tp-mode " + mode, "no rank has a part of a matrix");
  const std::string precision =
      o.choice("muon-fp32-matmul-prec", {"low", "medium", "high"}, "medium");
  if (precision != "medium")
    draft.note("--muon-fp32-matmul-prec " + precision, "products are 16-bit ones");
  const std::string others = o.choice("muon-scalar-optimizer", {"adam", "lion"}, "adam");
  if (others != "adam")
    draft.note("--muon-scalar-optimizer " + others, "what is no matrix is updated by Adam");
  if (!muon.empty()) e.push_back(fmt::format("muon: {{{}}}", fmt::join(muon, ", ")));
}

/// SOAP has no options: bases of all sides are new in each step, of statistics after Kullback and
/// Leibler (megatron/core/optimizer/optimizer_config.py, soap_use_kl_shampoo, and
/// NVIDIA-NeMo/Emerging-Optimizers emerging_optimizers/legacy_soap/soap.py).
void add_soap(Entries& e, Draft& draft) {
  e.emplace_back("preconditioner: {every: 1, largest_side: 0, kl_statistics: true}");
  draft.note("--optimizer soap",
             "products of new bases are tf32, here fp32 as all of its products");
}

}  // namespace

/// SGD has a momentum of 0.9 unless it is said otherwise.
std::string megatron_optimizer(MegatronOptions& o) {
  const std::string name = o.word("optimizer", "adam");
  if (name == "dist_muon") return "muon";
  return name == "sgd" && !o.is_zero("sgd-momentum") ? "momentum" : name;
}

bool is_layer_wise(MegatronOptions& o) { return o.word("optimizer", "adam") == "dist_muon"; }

void add_megatron_optimizer(MegatronOptions& o, Entries& e, Draft& draft) {
  if (megatron_optimizer(o) == "muon") add_muon(o, e, draft);
  if (megatron_optimizer(o) == kSoap) add_soap(e, draft);
  add_moments(o, e, draft);
}

}  // namespace stepsim
