// Experiments whose constants are known: from a YAML text to its metrics, on a GPU where a kernel
// takes the time that is written on it and everything else is free.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {

/// Equal to nine digits, which is what a closed form is held to.
inline doctest::Approx nine_digits(double value) {
  return doctest::Approx(value).epsilon(1e-9).scale(0);
}

inline Scenario scenario_of(const std::string& yaml) {
  return parse_scenario(yaml, "test.yaml", Library{{source_folder()}});
}

inline constexpr BytesPerSecond kPaperRate{1e12};
/// So fast that what moves at this rate takes no time.
inline constexpr BytesPerSecond kFree{1e30};

/// Kernels take bytes / kPaperRate; optimizer, copies and memory traffic of collectives are free.
inline GpuProfile paper_gpu() {
  GpuProfile gpu;
  gpu.name = "paper";
  gpu.sms = 100;
  gpu.memory = 80_GiB;
  gpu.memory_bandwidth = kFree;
  gpu.copy_pinned = gpu.copy_pageable = kFree;
  gpu.gemm = {{.precision = Precision::fp16, .peak = 1000_TFLOPps}};
  gpu.memory_kernels = {Seconds{0}, kPaperRate, kPaperRate, kPaperRate,
                        kPaperRate, kPaperRate, kFree,      kPaperRate};
  return gpu;
}

/// The constants of tiles of the paper GPU's GEMMs.
inline TiledGemm& tiles_of(GpuProfile& gpu) { return std::get<TiledGemm>(gpu.gemm[0].form); }
/// Tiles that cost what of them is used.
inline TiledGemm fluid_tiles() { return {.partial_waves = 1}; }

/// The scenario of that text on the paper GPU; the text's own is ignored.
inline Scenario on_paper(const std::string& yaml) {
  Scenario scenario = scenario_of(yaml);
  scenario.cluster.gpu = paper_gpu();
  return scenario;
}

/// A kernel that takes that long on the paper GPU.
inline Launch lasting(Seconds time) { return {"kernel", MemoryBound{time * kPaperRate}}; }

/// A layer of one op; its `elements` gradients are complete when its backward pass is.
inline Block paper_layer(Seconds forward, Seconds backward, double elements = 0) {
  Op op;
  op.name = "op";
  if (forward > Seconds{0}) op.forward.emplace_back(lasting(forward));
  if (backward > Seconds{0}) op.backward.emplace_back(lasting(backward));
  if (elements > 0) {
    op.parameters = {elements};
    op.backward.emplace_back(GradientReady{elements});
  }
  Block block{.name = "layer", .dag = {}, .input = Bytes{0}, .recomputable = true};
  block.dag.add(std::move(op), {});
  return block;
}

/// A graph of `layers` equal layers and nothing around them; no bytes pass between layers.
inline OpGraph paper_graph(Block layer, int layers) {
  OpGraph graph;
  graph.blocks.push_back(std::move(layer));
  graph.chain.assign(static_cast<std::size_t>(layers), 0);
  return graph;
}

/// A scenario laid out, ready to run. It stays where it is, because the plan points into the
/// scenario.
class Experiment {
 public:
  explicit Experiment(const std::string& yaml) : Experiment(scenario_of(yaml)) {}
  explicit Experiment(Scenario s)
      : scenario(std::move(s)), graph(build(scenario)), plan(make_plan(scenario, graph)) {}
  Experiment(Scenario s, OpGraph g)
      : scenario(std::move(s)), graph(std::move(g)), plan(make_plan(scenario, graph)) {}
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  Simulation run(const SimulateOptions& options = {}) const { return simulate(plan, options); }
  Metrics metrics(const SimulateOptions& options = {}) const {
    return measure(scenario, graph, run(options));
  }
  double step_seconds(const SimulateOptions& options = {}) const {
    return metrics(options).step_time.seconds();
  }

  const Scenario scenario;
  const OpGraph graph;
  const Plan plan;
};

/// The scenario's `collectives` with that algorithm for one op.
inline Collectives stated(CollectiveOp op, const std::string& algorithm) {
  Collectives collectives;
  const CollectiveChoice choice{algorithm, std::nullopt};
  if (op == CollectiveOp::all_reduce) collectives.all_reduce = choice;
  if (op == CollectiveOp::all_gather) collectives.all_gather = choice;
  if (op == CollectiveOp::reduce_scatter) collectives.reduce_scatter = choice;
  if (op == CollectiveOp::all_to_all) collectives.all_to_all = choice;
  return collectives;
}

/// What rank 0 hands to its data-parallel collectives in its first step, in order.
inline std::vector<const Operation*> data_operations(const Plan& plan) {
  std::vector<const Operation*> operations;
  for (const Task& task : plan.program(0).tasks) {
    const bool data = task.channel == Channel::data || task.channel == Channel::data_gather;
    if (task.kind == TaskKind::communicate && data && task.step == 0)
      operations.push_back(&plan.operations[task.work]);
  }
  return operations;
}

/// FLOPs of fused attention in a layer's forward and backward pass on a rank, as its kernels do them.
inline double fused_attention_flops(const OpGraph& graph) {
  double sum = 0;
  for (const Op* op : graph.blocks[1].order()) {
    for (const Items* items : {&op->forward, &op->backward}) {
      for (const Item& item : *items) {
        const auto* launch = std::get_if<Launch>(&item);
        const auto* work = launch == nullptr ? nullptr : std::get_if<FusedAttention>(&launch->work);
        if (work != nullptr) sum += work->flops().flops();
      }
    }
  }
  return sum;
}

}  // namespace stepsim
