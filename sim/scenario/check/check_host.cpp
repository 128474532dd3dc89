// Keys of host that do not fit together, or that no simulated step would show.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/host_period.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Whether a measured step is the last of a stretch of so many.
bool is_seen(const Run& run, std::int64_t steps) {
  const std::int64_t end = run.warmup + run.steps;
  return end / steps > run.warmup / steps;
}

void check_seen(const Scenario& s, const std::string& path, std::int64_t steps,
                const KeyReports& keys) {
  if (steps <= 0 || is_seen(s.run, steps)) return;
  keys.report({path, fmt::format("state run.steps: {}, or leave it out", steps)},
              "it happens every {} steps, which none of the {} measured ones after {} of "
              "warm-up would show",
              steps, s.run.steps, s.run.warmup);
}

std::int64_t micro_batches(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"cluster", "parallelism", "training"})) return 1;
  const int pipelines = s.parallelism.tensor * s.parallelism.pipeline.stages;
  if (pipelines < 1 || s.data_parallel() < 1 || s.training.micro_batch < 1) return 1;
  return std::max(s.micro_batches(), 1);
}

void check_cpu_work(const Scenario& s, const KeyReports& keys) {
  for (std::size_t i = 0; i < s.host.cpu_work.size(); ++i) {
    const CpuWork& work = s.host.cpu_work[i];
    const std::string path = fmt::format("host.cpu_work[{}]", i);
    if (!work.waits && (work.to_host > Bytes{0} || work.to_gpu > Bytes{0})) {
      keys.report({path, "leave to_host and to_gpu out, or waits"},
                  "what is copied has to be waited for, but waits is false");
    }
    if (work.after == HostAfter::step && work.per == Per::micro_batch) {
      keys.report({path, "use per: step"}, "work after the step has no micro-batch");
    }
    check_seen(s, path, steps_of(work.every, work.per, micro_batches(s, keys)), keys);
  }
}

void check_recompilation(const Scenario& s, const KeyReports& keys) {
  if (!s.host.recompilation) return;
  const char* path = "host.recompilation";
  if (s.host.mode == HostMode::eager || s.host.blocking())
    keys.report({path, "state host.mode: compiled"}, "mode is {}, which compiles nothing",
                name_of(s.host.mode));
  if (s.host.recompilation->when == NewShape::last_batch) {
    if (s.host.recompilation->every != 1)
      keys.report({"host.recompilation.every"}, "when is last_batch: an epoch says how often");
    if (!s.data || s.data->samples == 0) {
      return keys.report({path, "state data.samples"},
                         "when is last_batch, but nothing says how long an epoch is");
    }
    if (s.training.global_batch > 0 && s.data->samples % s.training.global_batch == 0) {
      keys.report({path, "leave it out"},
                  "when is last_batch, but none is short: {} samples an epoch are {} "
                  "batches of {}",
                  s.data->samples, s.data->samples / s.training.global_batch,
                  s.training.global_batch);
    }
  }
  check_seen(s, path, recompilation_period(s), keys);
}

/// Defaults until November 2026, which files of results have, as all that their readers knew.
constexpr double kFormerCpuSpeeds[] = {1, 0.5};

void check_pace(const Scenario& s, const KeyReports& keys) {
  if (s.host.counts_calls()) {
    if (s.host.mode == HostMode::compiled || s.host.graph())
      keys.report({"host.pace", "state host.mode: eager"},
                  "mode is {}, which calls none of PyTorch's modules", name_of(s.host.mode));
  } else if (!compiles_to_python(s.framework, s.host.mode) &&
             s.host.speed != s.cluster.cpu_speed.value_or(kUsualCpuSpeed) &&
             std::ranges::find(kFormerCpuSpeeds, s.host.speed) == std::end(kFormerCpuSpeeds)) {
    keys.report({"host.speed", "state host.pace: calls"},
                "it is that of calls, but pace is launches");
  }
}

void check_anomaly_detection(const Scenario& s, const KeyReports& keys) {
  if (!s.host.anomaly_detection) return;
  if (s.host.mode == HostMode::compiled || s.host.graph())
    keys.report({"host.anomaly_detection", "state host.mode: eager"},
                "mode is {}, whose operators autograd does not see", name_of(s.host.mode));
}

void check_queue(const Scenario& s, const KeyReports& keys) {
  if (!s.host.queue_depth || !s.host.blocking()) return;
  keys.report({"host.queue_depth", "leave it out"},
              "mode is blocking, where no kernel waits behind another");
}

/// Whether layers have the module. Letters of a pattern say it of a hybrid.
bool has_module(const Transformer& t, GraphModule module) {
  const auto has = [&](char letter, bool otherwise) {
    return t.hybrid ? t.hybrid->has(letter) : otherwise;
  };
  switch (module) {
    case GraphModule::attn:
      return has('*', true) || has('G', false);
    case GraphModule::mlp:
      return has('-', !t.experts || t.experts->dense_layers > 0);
    case GraphModule::moe_router:
    case GraphModule::moe_preprocess:
    case GraphModule::moe:
      return t.experts.has_value();
    case GraphModule::mamba:
      return has('M', false);
  }
  return false;
}

/// Whether the host reads the numbers of experts' tokens; graphs of whole passes do so where it is
/// stated alone.
bool reads_counts(const Scenario& s, bool preset) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  return t != nullptr && t->experts && s.parallelism.expert.host_waits.value_or(preset);
}

void check_modules(const Scenario& s, const Transformer& t, const KeyReports& keys) {
  const auto& graphs = s.host.graphs;
  for (auto at = graphs.begin(); at != graphs.end(); ++at) {
    if (std::find(graphs.begin(), at, *at) != at)
      keys.report({"host.graphs", "state it once"}, "{} stands there twice", name_of(*at));
    else if (!has_module(t, *at))
      keys.report({"host.graphs", "leave it out"}, "{} has no module {}", s.model.name,
                  name_of(*at));
  }
  const auto has = [&](GraphModule module) {
    return std::ranges::find(graphs, module) != graphs.end();
  };
  if (!has(GraphModule::moe)) return;
  if (has(GraphModule::moe_router) || has(GraphModule::moe_preprocess))
    keys.report({"host.graphs", "state moe alone"}, "moe has its router and what prepares it");
  // NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py: moe is for drop and pad.
  if (keys.sound({"parallelism.expert"}) && reads_counts(s, !s.parallelism.expert.capacity))
    keys.report({"host.graphs",
                 "state moe_router and moe_preprocess, parallelism.expert.capacity, or "
                 "parallelism.expert.host_waits: false"},
                "the host reads how many tokens experts get, within what would be a graph of moe");
}

/// Whether Megatron-LM's activation of experts waits for what it copies to the GPU
/// (ops/layer/expert_clamps.cpp).
bool waits_in_experts(const Scenario& s) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  return t != nullptr && t->experts && t->experts->clamp > 0 &&
         s.framework.value_or(Framework::megatron) == Framework::megatron &&
         s.training.fusion == Training{}.fusion && !s.parallelism.expert.grouped_kernel;
}

void check_waits(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"model", "training.fusion", "parallelism.expert"}) || !waits_in_experts(s))
    return;
  const bool in_graph = std::ranges::find(s.host.graphs, GraphModule::moe) != s.host.graphs.end();
  if (!s.host.graph() && !in_graph) return;
  keys.report(
      {s.host.graph() ? "host.mode" : "host.graphs",
       "state parallelism.expert.grouped_kernel: true"},
      "experts' clamps wait for the host within what would be a graph, unless they are part "
      "of a fused kernel");
}

void check_graphs(const Scenario& s, const KeyReports& keys) {
  check_waits(s, keys);
  if (s.host.graph() && keys.sound({"model", "parallelism.expert"}) && reads_counts(s, false))
    keys.report({"parallelism.expert.host_waits", "leave it out"},
                "the host reads how many tokens experts get within a pass, but mode is graph, "
                "where a pass is one launch");
  if (s.host.graphs.empty()) return;
  if (s.host.graph())
    keys.report({"host.graphs", "leave it out"}, "mode is graph: whole passes are one launch");
  if (!keys.sound({"model"})) return;
  const auto* transformer = std::get_if<Transformer>(&s.model.shape);
  if (transformer != nullptr) return check_modules(s, *transformer, keys);
  keys.report({"host.graphs", "leave it out"}, "graphs are of modules that transformers have");
}

void check_threads(const Scenario& s, const KeyReports& keys) {
  if (s.host.threads != Host{}.threads && !s.host.cores) {
    keys.report({"host.threads", "state host.cores"},
                "threads share cores, but nothing says how many a node has");
  }
}

}  // namespace

void check_host(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"host"})) return;
  check_anomaly_detection(s, keys);
  check_pace(s, keys);
  check_queue(s, keys);
  check_graphs(s, keys);
  check_threads(s, keys);
  if (!keys.sound({"run"})) return;
  check_cpu_work(s, keys);
  check_recompilation(s, keys);
  if (s.host.garbage_collection)
    check_seen(s, "host.garbage_collection", s.host.garbage_collection->every, keys);
}

}  // namespace stepsim
