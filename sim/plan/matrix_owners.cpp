// Deals matrices out to ranks.
#include "sim/plan/matrix_owners.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/pass/buckets.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

// Constants of layer_wise_optimizer.py: how many elements more than the mean a shard may have of a
// bucket, and of how many of its largest matrix on each rank a bucket consists at least.
constexpr double kMoreThanMean = 1.3;
constexpr double kFilledShards = 0.9;
constexpr int kAlignment = 64;         // elements at which a parameter begins (pad_param_start)
constexpr int kBucketAlignment = 128;  // elements of which a bucket has a multiple (pad_bucket_end)

double aligned(double elements, int multiple) { return std::ceil(elements / multiple) * multiple; }

double cost_of(const Matrices& matrices) {
  return std::accumulate(matrices.begin(), matrices.end(), 0.0,
                         [](double sum, const WeightMatrix* m) { return sum + product_cost(*m); });
}

/// Shards that are filled bucket by bucket; what ranks have to do is balanced over all of them.
class Packing {
 public:
  explicit Packing(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {
    dealt_.owned.resize(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) by_cost_.emplace(0.0, rank);
    // A bucket ends at a multiple of the ranks, too.
    shard_multiple_ = std::lcm(kAlignment, std::lcm(ranks, kBucketAlignment) / ranks);
  }

  void add_bucket(Matrices bucket) {
    if (bucket.empty()) return;
    const double most = elements_of(bucket) / static_cast<double>(ranks_) * kMoreThanMean;
    std::vector<double> filled(ranks_);
    std::ranges::stable_sort(bucket, std::ranges::greater{},
                             [](const WeightMatrix* m) { return product_cost(*m); });
    for (const WeightMatrix* matrix : bucket) {
      const auto place = place_for(*matrix, filled, most);
      const auto [cost, rank] = *place;
      by_cost_.erase(place);
      by_cost_.emplace(cost + product_cost(*matrix), rank);
      filled[rank] = aligned(filled[rank], kAlignment) + matrix->elements();
      dealt_.owned[rank].push_back(matrix);
    }
    dealt_.exchanged +=
        static_cast<double>(ranks_) * aligned(*std::ranges::max_element(filled), shard_multiple_);
  }

  DealtMatrices take() { return std::move(dealt_); }

 private:
  using Costs = std::set<std::pair<double, std::size_t>>;

  /// Whoever has least to do among those with room, or else the one with most room.
  Costs::iterator place_for(const WeightMatrix& matrix, const std::vector<double>& filled,
                            double most) const {
    const auto has_room = [&](const auto& place) {
      return aligned(filled[place.second], kAlignment) + matrix.elements() <= most;
    };
    const auto place = std::ranges::find_if(by_cost_, has_room);
    if (place != by_cost_.end()) return place;
    const auto emptiest =
        static_cast<std::size_t>(std::ranges::min_element(filled) - filled.begin());
    return std::ranges::find(by_cost_, emptiest, &std::pair<double, std::size_t>::second);
  }

  std::size_t ranks_;
  Costs by_cost_;  ///< what each rank has to do, the least first, with its number
  int shard_multiple_ = 0;
  DealtMatrices dealt_;
};

/// How full the shards of a bucket that is being filled are, in the order in which matrices come.
class OpenBucket {
 public:
  explicit OpenBucket(int ranks)
      : loads_(std::greater<>{}, std::vector<double>(static_cast<std::size_t>(ranks))) {}

  /// Whether the bucket has enough, and the matrix would make its shards longer.
  bool ends_before(const WeightMatrix& matrix, double bucket) const {
    if (matrices_.empty()) return false;
    const double least = static_cast<double>(loads_.size()) * largest_ * kFilledShards;
    const double shortest = aligned(loads_.top(), kAlignment);
    return elements_ >= std::max(bucket, least) &&
           shortest + matrix.elements() > aligned(longest_, kAlignment);
  }

  void add(const WeightMatrix* matrix) {
    const double load = aligned(loads_.top(), kAlignment) + matrix->elements();
    loads_.pop();
    loads_.push(load);
    longest_ = std::max(longest_, load);
    elements_ += matrix->elements();
    largest_ = std::max(largest_, matrix->elements());
    matrices_.push_back(matrix);
  }

  const Matrices& matrices() const { return matrices_; }

 private:
  /// Elements of each shard, the fewest on top.
  std::priority_queue<double, std::vector<double>, std::greater<>> loads_;
  double elements_ = 0, largest_ = 0, longest_ = 0;
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

DealtMatrices deal_greedily(Matrices matrices, int ranks) {
  DealtMatrices dealt{.owned = std::vector<Matrices>(static_cast<std::size_t>(ranks)),
                      .exchanged = elements_of(matrices)};
  std::ranges::stable_sort(matrices, std::ranges::greater{}, &WeightMatrix::elements);
  std::set<std::pair<double, std::size_t>> loads;
  for (std::size_t rank = 0; rank < dealt.owned.size(); ++rank) loads.emplace(0.0, rank);
  for (const WeightMatrix* matrix : matrices) {
    const auto [load, rank] = *loads.begin();
    loads.erase(loads.begin());
    loads.emplace(load + matrix->elements(), rank);
    dealt.owned[rank].push_back(matrix);
  }
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

bool sums_updates(const Scenario& scenario) {
  const Training& training = scenario.training;
  return updates_matrices(training) && !scenario.parallelism.data.sharding.shards_optimizer &&
         update_owners(training) == UpdateOwners::in_turn;
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
  switch (update_owners(scenario.training)) {
    case UpdateOwners::greedy:
      return deal_greedily(std::move(matrices), ranks);
    case UpdateOwners::in_turn:
      return deal_in_turn(matrices, ranks);
    case UpdateOwners::all:
      break;
  }
  return deal_in_turn(matrices, 1);
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
