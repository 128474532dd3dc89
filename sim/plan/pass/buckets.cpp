// Where buckets end.
#include "sim/plan/pass/buckets.hpp"

#include <variant>

namespace stepsim {
namespace {

/// For each gradient, in the order in which buckets are filled, whether it fills one.
std::vector<bool> filled(const std::vector<Bytes>& gradients, const DataParallel& data) {
  std::vector<bool> fills(gradients.size());
  Bytes limit = data.first_bucket, held;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    held += gradients[i];
    if (held < limit) continue;
    fills[i] = true;
    held = Bytes{0};
    limit = data.bucket;
  }
  return fills;
}

/// For each gradient, in the order in which the backward pass completes them, whether a bucket ends
/// with it.
std::vector<bool> bucket_ends(const std::vector<Bytes>& gradients, const DataParallel& data) {
  if (data.bucket_order == BucketOrder::backward) return filled(gradients, data);
  const std::vector<bool> fills = filled({gradients.rbegin(), gradients.rend()}, data);
  // What fills a bucket from the model's front is the first of it that backward completes: the one
  // before it ends another bucket.
  std::vector<bool> ends(gradients.size());
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = i + 1 == ends.size() || fills[ends.size() - 2 - i];
  return ends;
}

}  // namespace

std::vector<CompletedGradient> completed_gradients(const OpGraph& graph,
                                                   const std::vector<std::size_t>& blocks) {
  std::vector<CompletedGradient> gradients;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const auto order = graph.blocks[*block].order();
    for (auto op = order.rbegin(); op != order.rend(); ++op) {
      for (const Item& item : (*op)->backward) {
        if (const auto* ready = std::get_if<GradientReady>(&item))
          gradients.push_back({*op, *ready});
      }
    }
  }
  return gradients;
}

std::array<std::vector<bool>, 2> ends_of_buckets(const Scenario& scenario, const OpGraph& graph,
                                                 const std::vector<std::size_t>& blocks) {
  std::array<std::vector<Bytes>, 2> gradients;
  for (const auto& [op, ready] : completed_gradients(graph, blocks))
    gradients[ready.expert ? 1 : 0].emplace_back(ready.elements * gradient_bytes(scenario));
  const DataParallel& data = scenario.parallelism.data;
  return {bucket_ends(gradients[0], data), bucket_ends(gradients[1], data)};
}

double gradient_bytes(const Scenario& scenario) {
  return bytes_per_element(scenario.training.gradients);
}

double reduced_bytes(const Scenario& scenario) {
  const Training& training = scenario.training;
  return bytes_per_element(scenario.parallelism.data.reduce_dtype.value_or(training.gradients));
}

bool casts_buckets(const Scenario& scenario) {
  const auto& type = scenario.parallelism.data.reduce_dtype;
  return type && *type != scenario.training.gradients;
}

}  // namespace stepsim
