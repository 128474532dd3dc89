// Counts placeholders, buckets and communicators.
#include "sim/plan/memory/memory_buffers.hpp"

#include <algorithm>
#include <set>

#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {

Bytes placeholder_bytes(const Scenario& scenario, const OpGraph& graph, int stage) {
  std::set<WeightShape> shapes;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(scenario, graph, stage, chunk)) {
      for (const Op& op : graph.blocks[block].dag.ops)
        shapes.insert(op.placeholders.begin(), op.placeholders.end());
    }
  }
  double elements = 0;
  for (const auto& [rows, columns] : shapes) elements += static_cast<double>(rows * columns);
  return Bytes{elements * scenario.training.parameter_element()};
}

Bytes bucket_bytes(const Scenario& scenario, double parameters) {
  const DataParallel& data = scenario.parallelism.data;
  const Sharding& strategy = data.sharding;
  const Bytes all{parameters * gradient_bytes(scenario)};
  if (replicas(scenario) == 1) return copies_gradients(scenario) ? all : Bytes{0};
  const double cast = reduced_bytes(scenario) / gradient_bytes(scenario);
  if (scenario.framework == Framework::deepspeed && strategy.shards_gradients) {
    const double buffers = data.overlap && !strategy.shards_parameters ? 2 : 1;
    return cast * (buffers * data.bucket + std::min(data.bucket, all));
  }
  // With overlap one bucket is being reduced while the next one is filled.
  const Bytes in_flight = std::min((data.overlap ? 2.0 : 1.0) * data.bucket, all);
  const Bytes casts = casts_buckets(scenario) ? cast * in_flight : Bytes{0};
  if (copies_gradients(scenario)) return all + casts;
  if (!strategy.shards_gradients || strategy.shards_parameters) return casts;
  return in_flight + casts;
}

int communicators(const Scenario& scenario) {
  const Parallelism& p = scenario.parallelism;
  const int holders = replicas(scenario);
  const bool pipelined = p.pipeline.stages > 1;
  const bool agrees = scenario.training.gradient_clipping && p.tensor * p.pipeline.stages > 1;
  const ExpertMesh mesh = expert_mesh(scenario);
  const bool shares_experts = mesh.is_own() && expert_replicas(scenario) > 1;
  const bool splits_experts = mesh.own_tensor && mesh.tensor > 1;
  const int sharing = sharing_ranks(scenario);
  return (sharing > 1 && sharing < holders) + (p.tensor > 1) + (p.context.degree > 1) +
         (p.expert.degree > 1) + splits_experts + (holders > 1) + shares_experts + pipelined +
         agrees;
}

}  // namespace stepsim
