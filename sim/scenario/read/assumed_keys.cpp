// The table of keys that matter, held against those that are stated.
#include "sim/scenario/read/assumed_keys.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/read/keys.hpp"

namespace stepsim {
namespace {

bool always(const Scenario&) { return true; }
bool has_attention(const Scenario& s) { return std::holds_alternative<Transformer>(s.model.shape); }
bool is_long(const Scenario& s) { return s.run.horizon.has_value(); }
bool has_convolutions(const Scenario& s) { return std::holds_alternative<ResNet>(s.model.shape); }
bool has_preconditioners(const Scenario& s) {
  return s.training.optimizer == kSoap || s.training.optimizer == kShampoo;
}
/// Python's calls and launches take time on a CPU of which the cluster says nothing.
bool runs_python_on_any_cpu(const Scenario& s) {
  const bool runs = s.host.counts_calls() || compiles_to_python(s.framework, s.host.mode);
  return runs && !s.cluster.cpu_speed;
}
bool has_experts(const Scenario& s) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  return t != nullptr && t->experts.has_value();
}
bool exchanges_tokens(const Scenario& s) {
  return has_experts(s) && s.parallelism.expert.degree > 1;
}
bool has_loads(const Scenario& s) {
  const ExpertParallel& e = s.parallelism.expert;
  return exchanges_tokens(s) && !e.capacity && !e.load_variation;
}
bool has_replicas(const Scenario& s) { return s.data_parallel() > 1; }

struct Row {
  const char* key;
  const char* value_key;  ///< the key whose value is shown
  bool (*matters)(const Scenario&);
  const char* absent = "none";  ///< what is shown of a section that is not there
};

constexpr Row kRows[] = {
    {"framework", "framework", always},
    {"cluster.nodes", "cluster.nodes", always},
    {"training.micro_batch", "training.micro_batch", always},
    {"training.precision", "training.precision", always},
    {"training.optimizer", "training.optimizer", always},
    {"training.preconditioner", "training.preconditioner.every", has_preconditioners,
     "presets of its authors"},
    {"training.preconditioner.decomposition_rate", "training.preconditioner.decomposition_rate",
     has_preconditioners, "1.4 TFLOP/s, QR on A100"},
    {"training.recompute", "training.recompute.kind", has_attention},
    {"training.fusion", "training.fusion", always},
    {"training.attention", "training.attention", has_attention},
    {"parallelism.data.sharding", "parallelism.data.sharding", has_replicas},
    {"parallelism.expert.dispatcher", "parallelism.expert.dispatcher", exchanges_tokens},
    {"parallelism.expert.imbalance", "parallelism.expert.imbalance", has_loads},
    {"parallelism.expert.permute_fusion", "parallelism.expert.permute_fusion", has_experts},
    {"parallelism.expert.router_fusion", "parallelism.expert.router_fusion", has_experts},
    {"data", "data", always},
    {"host", "host.mode", always},
    {"host.speed", "host.speed", runs_python_on_any_cpu},
    {"training.convolution_autotuning", "training.convolution_autotuning", has_convolutions},
    {"checkpoint", "checkpoint", is_long},
    {"reliability", "reliability", is_long, "as Llama 3 405B"},
};

/// Kernels of delta nets were measured with heads of 128 x 128 alone (sim/ops/layer/delta_net.cpp):
/// what is taken for others; "" where there are none.
std::string unmeasured_delta_net(const Scenario& scenario) {
  constexpr std::int64_t kMeasured = 128;
  const auto* t = std::get_if<Transformer>(&scenario.model.shape);
  if (t == nullptr || !t->hybrid || !t->hybrid->delta_net) return "";
  const GatedDeltaNet& d = *t->hybrid->delta_net;
  if (d.key_dim == kMeasured && d.value_dim == kMeasured) return "";
  return fmt::format("rates of 128 x 128 in proportion to {} x {}", d.key_dim, d.value_dim);
}

bool is_preset(const Scenario& scenario, const std::string& key) {
  const auto& presets = framework_presets();
  return std::ranges::any_of(presets, [&](const FrameworkPreset& preset) {
    return scenario.framework == preset.framework && preset.path == key && preset.when.empty();
  });
}

}  // namespace

std::vector<AssumedKey> assumed_keys(const Scenario& scenario,
                                     const std::set<std::string>& stated) {
  const auto values = keys_of(scenario);
  const auto value_of = [&](const Row& row) -> std::string {
    const auto found = std::ranges::find(values, row.value_key, &KeyValue::key);
    return found == values.end() ? row.absent : found->value;
  };
  std::vector<AssumedKey> assumed;
  for (const Row& row : kRows) {
    if (row.matters(scenario) && !stated.contains(row.key) && !is_preset(scenario, row.key))
      assumed.push_back({row.key, value_of(row)});
  }
  if (const std::string sizes = unmeasured_delta_net(scenario); !sizes.empty())
    assumed.push_back({"model.hybrid.delta_net", sizes});
  return assumed;
}

}  // namespace stepsim
