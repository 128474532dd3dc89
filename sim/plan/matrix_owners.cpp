// Deals matrices out to ranks.
#include "sim/plan/matrix_owners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

// Constants of layer_wise_optimizer.py: how many elements more than the mean a shard may have of a
// bucket, and of how many of its largest matrix on each rank a bucket consists at least.
constexpr double kMoreThanMean = 1.3;
constexpr double kFilledShards = 0.9;
constexpr double kAlignment = 64;  // elements at which a parameter begins (pad_param_start)

double aligned(double elements, double multiple) {
  return std::ceil(elements / multiple) * multiple;
}

double cost_of(const Matrices& matrices) {
  return std::accumulate(matrices.begin(), matrices.end(), 0.0,
                         [](double sum, const WeightMatrix* m) { return sum + product_cost(*m); });
}

/// Shards that are filled bucket by bucket; what ranks have to do is balanced over all of them.
class Packing {
 public:
  explicit Packing(int ranks) : ranks_(static_cast<std::size_t>(ranks)), costs_(ranks_) {
    dealt_.owned.resize(ranks_);
    // A bucket ends at a multiple of the ranks and of 128 elements.
    shard_multiple_ = std::lcm(64, std::lcm(ranks, 128) / ranks);
  }

  void add_bucket(Matrices bucket) {
    if (bucket.empty()) return;
    const double most = elements_of(bucket) / static_cast<double>(ranks_) * kMoreThanMean;
    std::vector<double> filled(ranks_);
    std::ranges::stable_sort(bucket, std::ranges::greater{},
                             [](const WeightMatrix* m) { return product_cost(*m); });
    for (const WeightMatrix* matrix : bucket) {
      const std::size_t rank = rank_for(*matrix, filled, most);
      filled[rank] = aligned(filled[rank], kAlignment) + matrix->elements();
      costs_[rank] += product_cost(*matrix);
      dealt_.owned[rank].push_back(matrix);
    }
    dealt_.exchanged += static_cast<double>(ranks_) * aligned(*std::ranges::max_element(filled),
                                                              static_cast<double>(shard_multiple_));
  }

  DealtMatrices take() { return std::move(dealt_); }

 private:
  /// Whoever has least to do among those with room, or else the one with most room.
  std::size_t rank_for(const WeightMatrix& matrix, const std::vector<double>& filled,
                       double most) const {
    std::size_t best = ranks_;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const bool has_room = aligned(filled[rank], kAlignment) + matrix.elements() <= most;
      if (has_room && (best == ranks_ || costs_[rank] < costs_[best])) best = rank;
    }
    if (best < ranks_) return best;
    return static_cast<std::size_t>(std::ranges::min_element(filled) - filled.begin());
  }

  std::size_t ranks_;
  std::vector<double> costs_;
  int shard_multiple_ = 0;
  DealtMatrices dealt_;
};

/// How full the shards of a bucket that is being filled are, in the order in which matrices come.
class OpenBucket {
 public:
  explicit OpenBucket(int ranks) : loads_(static_cast<std::size_t>(ranks)) {}

  /// Whether the bucket has enough, and the matrix would make its shards longer.
  bool ends_before(const WeightMatrix& matrix, double bucket) const {
    if (matrices_.empty()) return false;
    const double least = static_cast<double>(loads_.size()) * largest_ * kFilledShards;
    const double shortest = aligned(*std::ranges::min_element(loads_), kAlignment);
    const double longest = aligned(*std::ranges::max_element(loads_), kAlignment);
    return elements_ >= std::max(bucket, least) && shortest + matrix.elements() > longest;
  }

  void add(const WeightMatrix* matrix) {
    double& load = *std::ranges::min_element(loads_);
    load = aligned(load, kAlignment) + matrix->elements();
    elements_ += matrix->elements();
    largest_ = std::max(largest_, matrix->elements());
    matrices_.push_back(matrix);
  }

  const Matrices& matrices() const { return matrices_; }

 private:
  std::vector<double> loads_;
  double elements_ = 0, largest_ = 0;
  Matrices matrices_;
};

}  // namespace

double product_cost(const WeightMatrix& matrix) {
  const auto rows = static_cast<double>(matrix.rows), columns = static_cast<double>(matrix.columns);
  const double smaller = std::min(rows, columns);
  return std::max(rows, columns) * smaller * smaller;
}

double elements_of(const Matrices& matrices) {
  return std::accumulate(matrices.begin(), matrices.end(), 0.0,
                         [](double sum, const WeightMatrix* m) { return sum + m->elements(); });
}

const Matrices& DealtMatrices::heaviest() const {
  return *std::ranges::max_element(owned, {}, cost_of);
}

double DealtMatrices::most_elements() const {
  double most = 0;
  for (const Matrices& matrices : owned) most = std::max(most, elements_of(matrices));
  return most;
}

DealtMatrices pack_matrices(const Matrices& backward, int ranks, double bucket) {
  Packing packing(ranks);
  OpenBucket open(ranks);
  for (const WeightMatrix* matrix : backward) {
    if (open.ends_before(*matrix, bucket)) {
      packing.add_bucket(open.matrices());
      open = OpenBucket(ranks);
    }
    open.add(matrix);
  }
  packing.add_bucket(open.matrices());
  return packing.take();
}

DealtMatrices deal_in_turn(const Matrices& forward, int ranks) {
  DealtMatrices dealt{.owned = std::vector<Matrices>(static_cast<std::size_t>(ranks)),
                      .exchanged = elements_of(forward)};
  for (std::size_t i = 0; i < forward.size(); ++i)
    dealt.owned[i % dealt.owned.size()].push_back(forward[i]);
  return dealt;
}

Matrices matrices_of(const Scenario& scenario, const OpGraph& graph,
                     const std::vector<std::size_t>& blocks, bool expert) {
  Matrices matrices;
  if (!updates_matrices(scenario.training)) return matrices;
  for (const std::size_t index : blocks) {
    const Block& block = graph.blocks[index];
    if (!block.recomputable) continue;
    for (const Op* op : block.order()) {
      if (op->expert != expert) continue;
      for (const WeightMatrix& matrix : op->matrices) matrices.push_back(&matrix);
    }
  }
  return matrices;
}

DealtMatrices owners_of(const Scenario& scenario, const OpGraph& graph,
                        const std::vector<std::size_t>& blocks, bool expert, int ranks,
                        bool bucketed) {
  Matrices matrices = matrices_of(scenario, graph, blocks, expert);
  const DataParallel& data = scenario.parallelism.data;
  if (data.sharding.shards_optimizer) {
    std::ranges::reverse(matrices);
    const double bucket = bucketed ? data.bucket.bytes() / gradient_bytes(scenario)
                                   : std::numeric_limits<double>::infinity();
    return pack_matrices(matrices, ranks, bucket);
  }
  const bool in_turn = scenario.training.muon_keys().owners == MuonOwners::round_robin;
  return deal_in_turn(matrices, in_turn ? ranks : 1);
}

std::array<double, 2> exchanged_times(const Scenario& scenario, const OpGraph& graph,
                                      const std::vector<std::size_t>& blocks, bool bucketed) {
  std::array<double, 2> times{1, 1};
  if (!updates_matrices(scenario.training)) return times;
  for (const bool expert : {false, true}) {
    const int ranks = expert ? ranks_sharing_experts(scenario) : sharing_ranks(scenario);
    const DealtMatrices dealt = owners_of(scenario, graph, blocks, expert, ranks, bucketed);
    double all = 0, matrices = 0;
    for (const Matrices& owned : dealt.owned) matrices += elements_of(owned);
    for (const std::size_t index : blocks) {
      const double experts = graph.blocks[index].expert_parameters();
      all += expert ? experts : graph.blocks[index].parameters() - experts;
    }
    if (all > 0) times[expert ? 1 : 0] = (all - matrices + dealt.exchanged) / all;
  }
  return times;
}

bool reduces_in_buckets(const Scenario& scenario, int stage, int chunk) {
  const DataParallel& data = scenario.parallelism.data;
  return data.overlap &&
         (data.bucket_later_stages || placement_of(scenario).part({stage, chunk}) == 0);
}

}  // namespace stepsim
