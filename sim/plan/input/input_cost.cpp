// Sums costs over a batch, and integrates the hits of a page cache.
#include "sim/plan/input/input_cost.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim {
namespace {

/// The probability that the product of two numbers, each uniform between r and 1, is at least t.
double product_reaches(double t, double r) {
  if (t <= r * r) return 1;
  if (t >= 1) return 0;
  const double area = t >= r ? 1 - t + t * std::log(t)
                             : t / r - r - t * std::log(t / (r * r)) + (1 - r) * (1 - t / r);
  return area / ((1 - r) * (1 - r));
}

double lru_hits(double capacity, int nodes, int epoch) {
  const double r = 1 - 1.0 / nodes;
  double hits = 0;
  double others = 1;  // (1 - 1/n)^(k-1): no epoch in between dealt the sample to this node
  for (int k = 1; k <= epoch && 1 - capacity < others; ++k) {
    hits += others / nodes * product_reaches((1 - capacity) / others, r);
    others *= r;
  }
  return hits;
}

Seconds taken(Bytes bytes, const std::optional<BytesPerSecond>& rate) {
  return rate ? bytes / *rate : Seconds{0};
}

}  // namespace

double cache_hits(CachePolicy policy, double capacity, int nodes, int epoch) {
  capacity = std::min(capacity, 1.0);
  const double seen = 1 - std::pow(1 - 1.0 / nodes, epoch);
  if (policy == CachePolicy::keep || capacity == 1) return std::min(capacity, seen);
  return lru_hits(capacity, nodes, epoch);
}

std::int64_t steps_per_epoch(const Scenario& scenario) {
  return scenario.data->samples / scenario.training.global_batch;
}

BatchCost batch_cost(const Scenario& scenario, int epoch) {
  const Input& d = *scenario.data;
  const auto samples = static_cast<double>(scenario.training.micro_batch);
  const Bytes read = d.sample_size * samples;
  double hits = 0;
  if (d.samples > 0 && d.storage.page_cache > Bytes{0}) {
    const Bytes all = d.sample_size * static_cast<double>(d.samples);
    hits = cache_hits(d.storage.cache_policy, d.storage.page_cache / all, scenario.cluster.nodes,
                      epoch);
  }
  const Seconds decode = d.decode * samples + taken(read, d.decode_rate);
  const Seconds transform = d.transform * samples + taken(read, d.transform_rate);
  const bool on_gpu = d.decode_on == Decoder::gpu;
  return {.stored = read * (1 - hits),
          .cached = read * hits,
          .waiting = d.storage.latency * (samples / d.storage.samples_per_read * (1 - hits)),
          .cpu = transform + (on_gpu ? Seconds{0} : decode),
          .gpu = on_gpu ? decode : Seconds{0},
          .pinned = d.device_bytes * samples};
}

}  // namespace stepsim
