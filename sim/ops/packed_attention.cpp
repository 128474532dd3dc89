// The closed form of attention in packs of documents.
#include "sim/ops/packed_attention.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/error.hpp"
#include "sim/core/expected_maximum.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// Quantiles that stand for a distribution. The mean of the squares of a lognormal one of 100 %
/// sigma is met within 1 %.
constexpr int kQuantiles = 4096;

/// Values of any unit that a mean scales are tokens without one.
std::vector<double> drawn_lengths(const SequencePacking& packing) {
  const Spread& spread = packing.spread;
  if (spread.values.empty() && spread.sigma == 0) return {spread.mean};
  if (!spread.values.empty() && spread.mean == 0) return spread.values;
  const Distribution* distribution = Registry<Distribution>::find(packing.distribution);
  if (distribution == nullptr) throw InternalError("packing of an unknown distribution");
  const Quantile quantile = distribution->quantile(spread);
  std::vector<double> lengths;
  for (int i = 0; i < kQuantiles; ++i) lengths.push_back(quantile((i + 0.5) / kQuantiles));
  return lengths;
}

/// Sums over documents, divided by their number.
struct Moments {
  double length = 0;    ///< mean tokens
  double keys = 0;      ///< keys that a token sees
  double variance = 0;  ///< of the work that a document's tokens do not explain
};

Moments moments_of(const std::vector<double>& lengths, std::int64_t window) {
  const auto count = static_cast<double>(lengths.size());
  double tokens = 0, work = 0;
  for (const double length : lengths) {
    tokens += length;
    work += length * mean_keys(length, window);
  }
  Moments m{.length = tokens / count, .keys = work / tokens};
  for (const double length : lengths)
    m.variance += std::pow(length * (mean_keys(length, window) - m.keys), 2) / count;
  return m;
}

/// By how much the work of the busiest of n ranks, with so many tokens each, is above the mean.
double excess(const Moments& m, double tokens, int ranks) {
  return std::sqrt(m.variance / (m.length * tokens)) / m.keys * expected_maximum_of_normals(ranks);
}

/// Data ranks that wait for each other in each pass; 1: none do.
int ranks_that_meet(const Scenario& s) {
  const int data = s.data_parallel();
  if (s.parallelism.data.sharding.shards_parameters)
    return s.parallelism.data.shard_degree.value_or(data);
  return std::min(s.parallelism.expert.degree, data);
}

double derived_imbalance(const Scenario& s, const Moments& m) {
  const auto sequence = static_cast<double>(s.sequence_length());
  const double pass = sequence * static_cast<double>(s.training.micro_batch);
  const double step = pass * s.micro_batches();
  double all =
      1 + std::max(excess(m, step, s.data_parallel()), excess(m, pass, ranks_that_meet(s)));
  const ContextParallel& context = s.parallelism.context;
  if (context.degree > 1 && context.kind == ContextKind::all_gather)
    all *= 1 + excess(m, pass / context.degree, context.degree);
  return all;
}

}  // namespace

std::vector<double> document_lengths(const Scenario& scenario) {
  const SequencePacking& packing = *scenario.training.packing;
  const auto longest = static_cast<double>(scenario.sequence_length());
  std::vector<double> lengths = drawn_lengths(packing);
  for (double& length : lengths) length = std::clamp(length, 1.0, longest);
  return lengths;
}

double mean_keys(double length, std::int64_t window) {
  const auto seen = static_cast<double>(window);
  return window == 0 || seen >= length ? length / 2 : seen - seen * seen / (2 * length);
}

double equal_document(double mean_keys, std::int64_t window) {
  const auto seen = static_cast<double>(window);
  return window == 0 || 2 * mean_keys <= seen ? 2 * mean_keys
                                              : seen * seen / (2 * (seen - mean_keys));
}

PackedAttention packed_attention(const Scenario& scenario, std::int64_t window) {
  const Moments m = moments_of(document_lengths(scenario), window);
  const double most = mean_keys(static_cast<double>(scenario.sequence_length()), window) / m.keys;
  const auto& stated = scenario.training.packing->imbalance;
  return {.keys = 2 * m.keys,
          .imbalance = std::min(stated ? *stated : derived_imbalance(scenario, m), most)};
}

}  // namespace stepsim
