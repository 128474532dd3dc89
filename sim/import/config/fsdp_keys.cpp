// FSDP's sharding strategies, prefetches and wrapping.
#include "sim/import/config/fsdp_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"

namespace stepsim {
namespace {

const std::vector<std::string> kStrategies{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD",
                                           "HYBRID_SHARD", "HYBRID_SHARD_ZERO2"};

class FsdpReader {
 public:
  FsdpReader(Config& config, std::string section, Draft& draft)
      : config_(config), section_(std::move(section)), draft_(draft) {}

  std::string path(const std::string& key) {
    return config_.first_of({section_ + ".fsdp_" + key, section_ + "." + key});
  }

  /// A name or a number; a switch says whether parameters are gathered again for backward.
  std::string strategy() {
    const std::string either = path("sharding_strategy");
    const std::string at = either.empty() ? path("reshard_after_forward") : either;
    std::string stated = in_upper_case(config_.text(at, kStrategies.front()));
    if (stated.starts_with('_')) stated.erase(0, 1);
    if (stated == "TRUE") return "FULL_SHARD";
    if (stated == "FALSE") return "SHARD_GRAD_OP";
    for (std::size_t i = 0; i < kStrategies.size(); ++i)
      if (stated == kStrategies[i] || stated == std::to_string(i + 1)) return kStrategies[i];
    config_.report(at, fmt::format("{}: '{}' is not {}", at, stated, one_of(kStrategies)),
                   closest(stated, kStrategies));
    return kStrategies.front();
  }

  /// FSDP1's prefetch in backward; without the key there is none.
  std::string backward_prefetch() {
    const std::string stated = config_.choice(
        path("backward_prefetch"), {"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", "1", "2"},
        "NO_PREFETCH", Config::Case::ignored);
    if (stated == "BACKWARD_PRE" || stated == "1") return "pre";
    return stated == "BACKWARD_POST" || stated == "2" ? "post" : "none";
  }

  bool is_on(const std::string& key, bool preset = false) {
    return config_.is_on(path(key), preset);
  }

  void note_wrapping() {
    const std::string policy = in_upper_case(config_.text(path("auto_wrap_policy"), "NO_WRAP"));
    if (policy == "TRANSFORMER_BASED_WRAP" || policy == "1") return;
    draft_.note("fsdp_auto_wrap_policy " + policy,
                "each layer is a unit of its own, not what the policy makes one");
  }

 private:
  Config& config_;
  std::string section_;
  Draft& draft_;
};

}  // namespace

const std::vector<std::string>& fsdp_strategies() { return kStrategies; }

std::string context_kind(const std::string& rotate_method) {
  return rotate_method == "alltoall" ? "ring" : "all_gather";
}

FsdpKeys read_fsdp(Config& config, const std::string& section, int version, std::int64_t replicas,
                   std::int64_t data_ranks, const Machine& machine, Draft& draft) {
  FsdpReader keys(config, section, draft);
  FsdpKeys plan{.framework = version == 2 ? "pytorch-fsdp2" : "pytorch-fsdp1",
                .recompute = keys.is_on("activation_checkpointing")};
  const std::string strategy = keys.strategy();
  // FSDP2 has no such switches, and passes over them.
  const std::string backward = keys.backward_prefetch();
  const bool forward = keys.is_on("forward_prefetch");
  const bool limits = keys.is_on("limit_all_gathers", true);
  const bool offloads = keys.is_on("offload_params");
  keys.note_wrapping();
  if (strategy == "NO_SHARD") {
    plan.data.emplace_back("sharding: ddp");
    return plan;
  }
  plan.data.emplace_back("sharding: zero3");
  if (strategy == "SHARD_GRAD_OP" || strategy == "HYBRID_SHARD_ZERO2")
    plan.data.emplace_back("reshard_after_forward: none");
  const bool by_node = strategy.starts_with("HYBRID") && replicas == 1 && machine.nodes > 1;
  if (by_node) plan.data.push_back(fmt::format("shard_degree: {}", machine.gpus_per_node));
  if (replicas > 1) plan.data.push_back(fmt::format("shard_degree: {}", data_ranks / replicas));
  if (version != 2) {
    if (forward) plan.data.emplace_back("forward_prefetch: true");
    if (!limits) plan.data.emplace_back("limit_all_gathers: false");
    plan.data.push_back("backward_prefetch: " + backward);
  }
  if (offloads) plan.data.emplace_back("offload_optimizer: true");
  return plan;
}

void add_fsdp_keys(const std::string& section, KnownKeys& known) {
  for (const std::string prefix : {"fsdp_", ""}) {
    for (const char* key :
         {"cpu_ram_efficient_loading", "ignored_modules", "min_num_params", "state_dict_type",
          "sync_module_states", "transformer_layer_cls_to_wrap", "use_orig_params"})
      known.harmless.insert(fmt::format("{}.{}{}", section, prefix, key));
    known.unsaid.insert({fmt::format("{}.{}offload_params", section, prefix),
                         {"the optimizer is the CPU's, parameters stay on the GPU", ""}});
  }
}

}  // namespace stepsim
