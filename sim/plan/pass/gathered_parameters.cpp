// Parameters above the threshold that data.persistence_threshold sets.
#include "sim/plan/pass/gathered_parameters.hpp"

#include <algorithm>

namespace stepsim {

double gathered_elements(const Scenario& scenario, const Op& op) {
  const auto threshold = static_cast<double>(scenario.parallelism.data.persistence_threshold);
  double sum = 0;
  for (const auto* tensors : {&op.parameters, &op.frozen}) {
    for (const double tensor : *tensors) sum += tensor < threshold ? 0 : tensor;
  }
  return sum;
}

Bytes stored_bytes(const Training& training, double elements, double quantised) {
  const double narrow = training.fp8_parameters ? quantised : 0;
  return Bytes{(elements - narrow) * training.gathered_element() +
               narrow * quantised_bytes(training.quantisation())};
}

Bytes gathered_bytes(const Scenario& scenario, const Op& op) {
  const double elements = gathered_elements(scenario, op);
  // Trained or not.
  const double quantised = op.quantised + op.frozen_quantised;
  return stored_bytes(scenario.training, elements, std::min(quantised, elements));
}

Bytes gathered_bytes(const Scenario& scenario, const Block& block, bool expert) {
  Bytes bytes;
  for (const Op& op : block.dag.ops) {
    if (op.expert == expert) bytes += gathered_bytes(scenario, op);
  }
  return bytes;
}

GatheredElements gathered_elements(const Scenario& scenario, const Block& block, bool expert) {
  const auto threshold = static_cast<double>(scenario.parallelism.data.persistence_threshold);
  GatheredElements elements;
  for (const Op& op : block.dag.ops) {
    if (op.expert != expert) continue;
    for (const auto* tensors : {&op.parameters, &op.frozen}) {
      for (const double tensor : *tensors)
        (tensor < threshold ? elements.persistent : elements.each_pass) += tensor;
    }
  }
  return elements;
}

}  // namespace stepsim
