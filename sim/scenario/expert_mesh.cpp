// Deals the ranks of a stage to tensor and expert indices.
#include "sim/scenario/expert_mesh.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/expected_maximum.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

using Ranks = std::vector<int>;

/// All ranks of a stage, in order.
Ranks ranks_of_stage(const Scenario& scenario, int stage) {
  Ranks ranks;
  for (int tensor = 0; tensor < scenario.parallelism.tensor; ++tensor) {
    const Ranks holders = holders_of(tensor, stage, scenario);
    ranks.insert(ranks.end(), holders.begin(), holders.end());
  }
  std::ranges::sort(ranks);
  return ranks;
}

/// How far apart neighbours along each axis are among the ranks that the mesh numbers.
struct Strides {
  int tensor = 1, expert = 1;
};

Strides strides_of(const ExpertMesh& mesh, const RankOrder& order) {
  Strides strides;
  int stride = 1;
  for (const Axis axis : order.axes) {
    if (axis == Axis::tensor) {
      strides.tensor = stride;
      stride *= mesh.tensor;
    } else if (axis == Axis::expert) {
      strides.expert = stride;
      stride *= mesh.degree;
    } else if (axis == Axis::data) {
      stride *= mesh.replicas;
    }
  }
  return strides;
}

}  // namespace

ExpertMesh expert_mesh(const Scenario& scenario) {
  const Parallelism& split = scenario.parallelism;
  ExpertMesh mesh;
  mesh.tensor = split.expert.tensor.value_or(split.tensor);
  mesh.degree = split.expert.degree;
  mesh.replicas = split.tensor * scenario.replicas() / (mesh.tensor * mesh.degree);
  mesh.own_tensor = mesh.tensor != split.tensor;
  return mesh;
}

std::vector<std::vector<Ranks>> expert_holders(const Scenario& scenario, int stage) {
  const ExpertMesh mesh = expert_mesh(scenario);
  std::vector<std::vector<Ranks>> parts(static_cast<std::size_t>(mesh.tensor),
                                        std::vector<Ranks>(static_cast<std::size_t>(mesh.degree)));
  const auto deal = [&](const Ranks& ranks, const ExpertMesh& over, int first_tensor) {
    const Strides strides = strides_of(over, scenario.parallelism.order);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const int place = static_cast<int>(i);
      const int tensor = first_tensor + place / strides.tensor % over.tensor;
      const int expert = place / strides.expert % over.degree;
      parts[static_cast<std::size_t>(tensor)][static_cast<std::size_t>(expert)].push_back(ranks[i]);
    }
  };
  if (mesh.own_tensor) {
    deal(ranks_of_stage(scenario, stage), mesh, 0);
    return parts;
  }
  ExpertMesh of_one = mesh;
  of_one.tensor = 1;
  for (int tensor = 0; tensor < mesh.tensor; ++tensor)
    deal(holders_of(tensor, stage, scenario), of_one, tensor);
  return parts;
}

double imbalance_of(const Scenario& scenario) {
  const ExpertParallel& split = scenario.parallelism.expert;
  const auto* model = std::get_if<Transformer>(&scenario.model.shape);
  if (!split.load_variation || model == nullptr || !model->experts) return split.imbalance;
  const auto ranks = static_cast<double>(split.degree);
  const auto experts = static_cast<double>(model->experts->count);
  if (split.degree == 1 || experts < 2) return 1;
  const double spread =
      *split.load_variation * std::sqrt(ranks / experts * experts / (experts - 1));
  return std::min(1 + spread * expected_maximum_of_normals(split.degree), ranks);
}

}  // namespace stepsim
